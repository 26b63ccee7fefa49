import type { ContentRef } from "../content/content-ref.ts";
import type { AnyTable } from "../encoding/table.ts";
import { definedIds } from "../operation/owned-records.ts";

/** Contents as users count them. */
export interface ContentFigures {
  /** Blobs, their snapshots, versions and uncommitted blocks; files and their earlier states. */
  readonly contents: number;
  /** Sum of their lengths, wherever the bytes are stored: in records, in extents, or as holes. */
  readonly contentBytes: number;
}

/** Counts the contents of records. */
export class ContentCount implements ContentFigures {
  contents = 0;
  contentBytes = 0;

  /** Adds a record. `length` replaces the length of its content if that is stored separately. A
   *  record that owns others is a directory: what its field contains is no content. */
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
