import type { ContentRef } from "../content/content-ref.ts";
import type { AnyTable } from "../encoding/table.ts";
import { definedIds } from "../operation/owned-records.ts";

/** How commands report their progress, which `cli/progress.ts` shows, and count contents. */

/** How much of a step there is to do, or is done; undefined: not known, or not applicable. */
export interface Amount {
  readonly items?: number | undefined;
  readonly bytes?: number | undefined;
}

export interface ProgressStep {
  /** What is done: "copying contents". */
  readonly what: string;
  /** What the items are, in the plural; "records" unless given. */
  readonly itemName?: string | undefined;
  readonly total: Amount;
}

/** Receives the progress of a command that may take long. */
export interface Progress {
  /** Begins a step. Ends the step before, if there is one. */
  begin(step: ProgressStep): void;
  add(done: Amount): void;
}

/** For callers that show no progress. */
export const noProgress: Progress = { begin() {}, add() {} };

/** Number and length of contents as users count them, for reports. */
export interface ContentFigures {
  /** Blobs, their snapshots, versions and uncommitted blocks; files and their earlier states. */
  readonly contents: number;
  /** Sum of their lengths, wherever the bytes are stored: in records, in extents, or as holes. */
  readonly contentBytes: number;
}

/** Counts contents while their records are read or written. */
export class ContentCount implements ContentFigures {
  contents = 0;
  contentBytes = 0;

  /** Adds a record. `length` replaces the length of its content if that is stored separately.
   *  Ignores a directory (a record that defines ids), whose content field holds no content of a
   *  user. */
  add(table: AnyTable, record: object, length?: number): void {
    if (table.content === undefined || definedIds(table, record).length > 0) return;
    const ref = (record as Record<string, ContentRef | undefined>)[table.content];
    if (ref === undefined) return;
    this.contents += 1;
    this.contentBytes += length ?? ref.length;
  }

  get figures(): ContentFigures {
    return { contents: this.contents, contentBytes: this.contentBytes };
  }
}
