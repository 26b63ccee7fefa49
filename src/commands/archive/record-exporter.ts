import type { ContentStore } from "../../content/content.ts";
import { emptyContent, type ContentRef } from "../../content/content-ref.ts";
import { encodeTaggedKey, successor, type KeyBounds } from "../../encoding/keys.ts";
import type { AnyTable } from "../../encoding/table.ts";
import { definedIds, type OwnerId } from "../../operation/owned-records.ts";
import type { Entry, Key, Value, View } from "../../store/store.ts";
import { recordTables } from "../../data/services.ts";
import { ContentCount } from "../progress.ts";
import { isSameContent, piecesOf } from "./content-pieces.ts";
import type { FrameWriter } from "./archive-format.ts";

/** Writes the records of accounts to an archive, for `export-accounts.ts`. */

/** Limits of a page of records, which is in memory as a whole. The first page of a range is small,
 *  because the size of its entries is not known yet. */
const pageBytes = 1024 * 1024;
const pageEntriesMax = 512;
const pageEntriesFirst = 8;

/** Pages of a range with about 1 MiB each. A scan of the store reads 512 entries at a time, which
 *  is too much memory if each entry has 1 MiB. */
async function* pagesOf(view: View, { start, end }: KeyBounds): AsyncGenerator<readonly Entry[]> {
  let from = start;
  for (let limit = pageEntriesFirst; ;) {
    const page: Entry[] = [];
    for await (const entries of view.range({ start: from, end, limit })) page.push(...entries);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    if (page.length < limit) return;
    from = successor(last.key);
    const bytes = page.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    const fitting = Math.floor((pageBytes * page.length) / bytes);
    limit = Math.max(1, Math.min(pageEntriesMax, 4 * limit, fitting));
  }
}

interface RecordExporterOptions {
  readonly view: View;
  readonly content: ContentStore;
  readonly writer: FrameWriter;
}

/** Most records in one frame. */
const frameRecordsMax = 500;
const frameBytesMax = 1024 * 1024;
/** Work units per record (`base/loop-share.ts`), after some of which requests get to run. */
const unitsPerRecord = 0.5;

interface StoredRecord {
  readonly key: Key;
  readonly value: Value;
}

type Fields = Readonly<Record<string, unknown>>;

interface RecordContent extends Pick<StoredRecord, "key"> {
  readonly table: AnyTable;
  readonly ref: ContentRef;
}

interface OwnedRecord {
  readonly table: AnyTable;
  readonly entry: StoredRecord;
  /** The decoded record; undefined if no field of it is needed. */
  readonly record: Fields | undefined;
}

/** The archived records that an id owns. The records below a record follow it, so that a reclaim
 *  job that begins at the account finds them, also after a load was interrupted. */
async function* ownedRecords(
  source: Pick<RecordExporterOptions, "view" | "content">,
  { kind, id }: OwnerId,
): AsyncGenerator<OwnedRecord> {
  for (const table of recordTables) {
    if (!table.isArchived || table.owner !== kind) continue;
    const isPlain = table.defines.length === 0 && !table.hasLease && !table.content;
    for await (const page of pagesOf(source.view, table.range([id]))) {
      for (const entry of page) {
        const record = isPlain ? undefined : (table.codec.decode(entry.value) as Fields);
        yield { table, entry, record };
        const wait = source.content.loop.spend(unitsPerRecord);
        if (wait !== undefined) await wait;
        // The depth of this recursion is that of the longest path.
        for (const below of record === undefined ? [] : definedIds(table, record, id)) {
          yield* ownedRecords(source, below);
        }
      }
    }
  }
}

/** About how many bytes the frames of the records that an id owns have before compression. An
 *  earlier state that differs little from a later one takes fewer. */
export async function measureOwned(
  source: Pick<RecordExporterOptions, "view" | "content">,
  owner: OwnerId,
): Promise<number> {
  let bytes = 0;
  for await (const { table, entry, record } of ownedRecords(source, owner)) {
    bytes += entry.key.length + entry.value.length;
    const ref = record && table.content && (record[table.content] as ContentRef | undefined);
    if (ref && ref.kind !== "inline") bytes += ref.length;
  }
  return bytes;
}

/** Writes the records of one view to an archive, each followed by the records below it. */
export class RecordExporter {
  readonly #options: RecordExporterOptions;
  #tableName = "";
  /** Keys and values of the next frame. */
  #batch: Uint8Array[] = [];
  #batchBytes = 0;
  /** The last record whose content is stored outside of it. The next one may be its copy. */
  #previous: RecordContent | undefined;
  records = 0;
  /** Number of content bytes that are written outside of records. */
  pieceBytes = 0;
  readonly contents = new ContentCount();

  constructor(options: RecordExporterOptions) {
    this.#options = options;
  }

  /** Writes the records that an id owns, each followed by the records below it. */
  async exportOwned(owner: OwnerId): Promise<void> {
    for await (const { table, entry, record } of ownedRecords(this.#options, owner)) {
      await this.#exportRecord(table, entry, record);
    }
  }

  /** Writes the records that are collected for the next frame. */
  async flush(): Promise<void> {
    if (this.#batch.length === 0) return;
    const lengths = this.#batch.map(({ length }) => length);
    const frame = { table: this.#tableName, lengths, bytes: Buffer.concat(this.#batch) };
    this.#batch = [];
    this.#batchBytes = 0;
    await this.#options.writer.write("records", frame);
  }

  async #exportRecord(table: AnyTable, entry: StoredRecord, record: Fields | undefined) {
    const plain = record && withoutPassingState(table, record);
    const ref = table.content && (plain?.[table.content] as ContentRef | undefined);
    const isOutside = ref !== undefined && ref !== "" && ref.kind !== "inline";
    if (isOutside) await this.#exportContent(table, { key: entry.key, ref, record: plain ?? {} });
    else {
      const isChanged = plain !== undefined && plain !== record;
      const value = isChanged ? table.codec.encode(plain) : entry.value;
      await this.#add(table.name, entry.key, value);
    }
    this.records += 1;
    if (record !== undefined) this.contents.add(table, record);
  }

  async #add(table: string, key: Key, value: Value): Promise<void> {
    const isFull = this.#batch.length >= 2 * frameRecordsMax || this.#batchBytes >= frameBytesMax;
    if (isFull || table !== this.#tableName) await this.flush();
    this.#tableName = table;
    this.#batch.push(key, value);
    this.#batchBytes += key.length + value.length;
  }

  async #exportContent(
    table: AnyTable,
    { key, ref, record }: Pick<StoredRecord, "key"> & { ref: ContentRef; record: Fields },
  ): Promise<void> {
    await this.flush();
    const { view, content, writer } = this.#options;
    const { length } = ref;
    const value = table.codec.encode({ ...record, [table.content ?? ""]: emptyContent });
    const base = await this.#baseOf(table, key, ref);
    this.#previous = { table, key, ref };
    const shown = base && { base: { table: base.table.name, key: base.key } };
    const head = { table: table.name, key, value, length, ...shown };
    let isFirst = true;
    for await (const part of piecesOf(view, content, { ref, base: base?.ref })) {
      this.pieceBytes += part.bytes.length;
      if (isFirst) await writer.write("content", { ...head, ...part });
      else await writer.write("moreContent", part);
      isFirst = false;
    }
  }

  /** An earlier record of the archive with most of the content, so that only the differences are
   *  written. For a copy it is the previous record, if that has the same content. For an earlier
   *  state of a blob or file it is the next older state or the present one. */
  async #baseOf(table: AnyTable, key: Key, ref: ContentRef): Promise<RecordContent | undefined> {
    const { earlierStateOf: present } = table;
    const previous = this.#previous;
    if (previous !== undefined && isSameContent(previous.ref, ref)) return previous;
    if (present === undefined) return undefined;
    const name = encodeTaggedKey(present.table.tag, table.parts(key).slice(0, present.keyParts));
    const isSameName =
      previous?.table === table &&
      Buffer.compare(name.subarray(1), previous.key.subarray(1, name.length)) === 0;
    if (isSameName) return previous;
    const value = await this.#options.view.get(name);
    const record = value && (present.table.codec.decode(value) as Fields);
    const presentRef = record?.[present.table.content ?? ""] as ContentRef | undefined;
    return presentRef && { table: present.table, key: name, ref: presentRef };
  }
}

/** The record without what belongs to a running server: a lease, and a copy in progress, which
 *  counts as aborted. Returns the same object if nothing is left out. */
function withoutPassingState({ hasLease }: AnyTable, record: Fields): Fields {
  const { copy } = record as { readonly copy?: { readonly status?: string } };
  const isCopying = copy?.status === "pending";
  const isLeased = hasLease === true && record["lease"] !== undefined;
  if (!isCopying && !isLeased) return record;
  const kept = isCopying ? { ...record, copy: { ...copy, status: "aborted" } } : { ...record };
  return hasLease === true ? { ...kept, lease: undefined } : kept;
}
