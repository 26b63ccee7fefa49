import { decodeKey, successor } from "../../encoding/keys.ts";
import type { AnyTable } from "../../encoding/table.ts";
import type { Log } from "../../base/world.ts";
import type { Key, Store, View } from "../../store/store.ts";
import type { ContentReader, ContentStore } from "../content.ts";
import type { ContentRef, Slice } from "../content-ref.ts";
import type { ExtentFiles } from "../extents/extent-files.ts";
import { StoredBytes } from "./audit-content.ts";

/** Scrubbing: all stored bytes are read again and again in the background and compared with their
 *  checksums, so that damage by the disk is noticed while a backup still has the bytes.
 *  `data/data-stores.ts` runs the steps, as many per second as the operator permits. */

export interface ScrubberOptions {
  readonly store: Store;
  readonly content: ContentStore;
  readonly files: ExtentFiles;
  readonly contentTables: readonly AnyTable[];
  readonly log: Log;
}

interface ScrubStep {
  readonly bytes: number;
  readonly problems: number;
  /** Whether this step has verified the last record; the next one begins with the first. */
  readonly isPassDone: boolean;
}

/** Where the next step begins: at an offset of the content of the record with `key`, or at the
 *  first record after it. `table` is an index in `contentTables`. */
interface Cursor {
  readonly table: number;
  readonly key: Key;
  readonly offset: number;
}

/** Slices of one record that a step verifies; `name` is its table and key, for the log. */
interface RecordSlices {
  readonly name: string;
  readonly slices: readonly Slice[];
}

/** Bounds a step over records that have little content. */
const recordsPerStepMax = 256;
/** A step ends with the slice that reaches this number of bytes. It should be short, because the
 *  rate is limited by pauses between steps. */
const bytesPerStep = 4 * 1024 * 1024;

export class Scrubber {
  readonly #options: ScrubberOptions;
  #cursor: Cursor;

  constructor(options: ScrubberOptions) {
    this.#options = options;
    this.#cursor = this.#startOf(0);
  }

  /** Verifies the next part of the content. The list of slices is read on one store snapshot. The
   *  bytes of the slices are read after the snapshot has ended, because that may take longer than a
   *  view may stay open. Open readers keep garbage collection from deleting the bytes until
   *  then. */
  async step(): Promise<ScrubStep> {
    const { store, files, log } = this.#options;
    const readers: ContentReader[] = [];
    const bytes = new StoredBytes(files);
    try {
      const found = await store.snapshot((view) => this.#collect(view, readers));
      let count = 0;
      for (const { name, slices } of found.records) {
        const problems = await bytes.problemsOf(slices);
        count += problems.length;
        for (const problem of problems) {
          log.error({ name, problem }, "stored bytes are damaged; restore them from a backup");
        }
      }
      const isPassDone = found.next === undefined;
      this.#cursor = found.next ?? this.#startOf(0);
      return { bytes: bytes.bytesRead, problems: count, isPassDone };
    } finally {
      for (const reader of readers) reader.close();
      await bytes.close();
    }
  }

  /** Lists the slices that the step verifies, and opens a reader for the content of each record.
   *  `next` is undefined after the last record. */
  async #collect(
    view: View,
    readers: ContentReader[],
  ): Promise<{ readonly records: readonly RecordSlices[]; readonly next: Cursor | undefined }> {
    const { contentTables, content } = this.#options;
    const { table: index, key: start, offset } = this.#cursor;
    const table = contentTables[index];
    if (table === undefined) return { records: [], next: undefined };
    const records: RecordSlices[] = [];
    let bytes = 0;
    let last: Key | undefined;
    const end = Uint8Array.of(table.tag + 1);
    for await (const entries of view.range({ start, end, limit: recordsPerStepMax })) {
      for (const { key, value } of entries) {
        const ref = contentOf(table, value);
        const isResumed = last === undefined && Buffer.from(key).equals(start);
        last = key;
        if (ref === undefined || ref.kind === "inline") continue;
        readers.push(content.open(view, ref));
        const from = isResumed ? Math.min(offset, ref.length) : 0;
        for await (const slices of content.slices(view, ref, from, ref.length - from)) {
          records.push({
            name: `${table.name} ${decodeKey(key, 1).map(String).join("/")}`,
            slices,
          });
          for (const { length } of slices) bytes += length;
          const reached = slices.at(-1);
          if (bytes < bytesPerStep || reached === undefined) continue;
          const next = { table: index, key, offset: reached.at + reached.length };
          return { records, next };
        }
      }
    }
    if (last !== undefined) {
      return { records, next: { table: index, key: successor(last), offset: 0 } };
    }
    const isLastTable = index + 1 >= contentTables.length;
    return { records, next: isLastTable ? undefined : this.#startOf(index + 1) };
  }

  #startOf(table: number): Cursor {
    const { contentTables } = this.#options;
    return { table, key: Uint8Array.of(contentTables[table]?.tag ?? 0), offset: 0 };
  }
}

function contentOf(table: AnyTable, value: Uint8Array): ContentRef | undefined {
  const record = table.codec.decode(value) as Readonly<Record<string, ContentRef | undefined>>;
  return record[table.content ?? ""];
}
