import type { ContentStore } from "../../content/content.ts";
import {
  edit,
  share,
  type ContentEdit,
  type ContentPlan,
  type ContentRef,
} from "../../content/content-ref.ts";
import { ContentCount } from "../progress.ts";
import { type AnyTable, withEncodedKeys, RecordTooNew } from "../../encoding/table.ts";
import { applyEffects } from "../../operation/apply.ts";
import { type Effect, add, periodJobOf } from "../../operation/effects.ts";
import type { Key, Store, Transaction, Value } from "../../store/store.ts";
import {
  type ContentFrame,
  type MoreContentFrame,
  type RecordsFrame,
  invalid,
  writtenByNewer,
} from "./archive-format.ts";
import { ArchiveRefused } from "../../host/refused.ts";
import { receivePieces, writesOf, type ReceivedPiece } from "./receive-pieces.ts";
import { decodeKey, encodeTaggedKey, type KeyPart } from "../../encoding/keys.ts";
import { recordTables } from "../../data/services.ts";
import { refuseInvalidRecord } from "./record-fields.ts";

/** Stores the records of an archive under new ids, for `load-archive.ts`. */

/** Where `RecordLoader` stores, and how it replaces ids. */
interface RecordLoaderOptions {
  readonly store: Store;
  readonly content: ContentStore;
  readonly mapId: (id: bigint) => bigint;
}

/** Limits of one transaction: items, bytes and pieces of content. Other transactions of the server
 *  wait while a large one is committed. */
const batchItemsMax = 250;
const batchBytesMax = 16 * 1024 * 1024;
const batchPiecesMax = 4096;

/** A record, or the next part of its content, that one transaction writes. */
interface LoadItem {
  readonly record: LoadedRecord;
  /** Content that the archive has in frames of its own; undefined if it is part of the record. */
  readonly content?: ItemContent | undefined;
}

interface ItemContent {
  readonly length: number;
  /** Whether earlier transactions have written the record and a part of its content. */
  readonly isContinued: boolean;
  /** An earlier record whose content this one has, with changes; undefined: it is empty before. */
  readonly base: { readonly table: AnyTable; readonly key: Key } | undefined;
  readonly pieces: Promise<ReceivedPiece>[];
}

interface Batch {
  readonly items: LoadItem[];
  bytes: number;
  pieces: number;
}

/** Writes the records of an archive under new ids, a few hundred per transaction. While one
 *  transaction is committed, the contents of the next one are received. */
export class RecordLoader {
  readonly #options: RecordLoaderOptions;
  #batch: Batch = emptyBatch();
  /** The record of which further content is expected. */
  #open: LoadItem | undefined;
  #committing: Promise<void> = Promise.resolve();
  /** The new id of the account whose records follow. */
  account = 0n;
  records = 0;
  /** Number of content bytes that the archive has outside of records. */
  pieceBytes = 0;
  readonly contents = new ContentCount();

  constructor(options: RecordLoaderOptions) {
    this.#options = options;
  }

  async addRecords(frame: RecordsFrame): Promise<void> {
    this.#refuseOpen();
    const { table } = frame;
    for (const { key, value } of recordsOf(frame)) {
      await this.#add({ record: loadedRecord({ table, key, value }, this.#options.mapId) });
      const wait = this.#options.content.loop.spend(1);
      if (wait !== undefined) await wait;
    }
  }

  async addContent(frame: ContentFrame): Promise<void> {
    this.#refuseOpen();
    const { mapId } = this.#options;
    const record = loadedRecord(frame, mapId);
    if (record.table.content === undefined) throw invalid("a record cannot have content");
    const { length } = frame;
    if (!Number.isSafeInteger(length) || length < 0) throw invalid("a length is not a number");
    const base = frame.base && earlierRecord(frame.base, mapId);
    const item = { record, content: { length, isContinued: false, base, pieces: [] } };
    await this.#addPieces(item, frame);
    await this.#add(item);
    this.#open = frame.isLast ? undefined : item;
  }

  async addMore(frame: MoreContentFrame): Promise<void> {
    if (this.#open?.content === undefined) throw invalid("content has no record");
    // If the transaction with the record was committed already, the content continues in the next
    // one.
    if (!this.#batch.items.includes(this.#open)) {
      const { record, content } = this.#open;
      this.#open = { record, content: { ...content, isContinued: true, pieces: [] } };
      await this.#addPieces(this.#open, frame);
      await this.#add(this.#open);
    } else await this.#addPieces(this.#open, frame);
    if (frame.isLast) this.#open = undefined;
  }

  async finish(): Promise<void> {
    this.#refuseOpen();
    await this.#commit();
    await this.#committing;
  }

  /** After a failure: frees the content that was received, but not committed. */
  async abandon(): Promise<void> {
    await this.#committing.catch(() => undefined);
    await discardAll(this.#options.content, this.#batch.items);
    this.#batch = emptyBatch();
  }

  async #addPieces({ content, record }: LoadItem, frame: MoreContentFrame): Promise<void> {
    if (content === undefined) return;
    const isWhole = frame.isLast && !content.isContinued && content.pieces.length === 0;
    const scope = this.#scopeOf(record.record);
    const options = { length: content.length, isWhole, scope };
    const received = receivePieces(this.#options.content, frame, options);
    content.pieces.push(...received);
    this.pieceBytes += frame.bytes.length;
    this.#batch.bytes += frame.bytes.length;
    this.#batch.pieces += received.length;
  }

  /** The encryption scope of a blob or block; undefined if it has none. */
  #scopeOf({ encryptionScope: name }: { readonly encryptionScope?: string }) {
    return name === undefined ? undefined : { account: this.account, name };
  }

  async #add(item: LoadItem): Promise<void> {
    this.#batch.items.push(item);
    if (item.content?.isContinued !== true) {
      this.records += 1;
      this.contents.add(item.record.table, item.record.record, item.content?.length);
    }
    const { items, bytes, pieces } = this.#batch;
    const isFull =
      items.length >= batchItemsMax || bytes >= batchBytesMax || pieces >= batchPiecesMax;
    if (isFull) await this.#commit();
  }

  /** Begins the next transaction when the one before has ended. */
  async #commit(): Promise<void> {
    await this.#committing;
    const { items } = this.#batch;
    this.#batch = emptyBatch();
    this.#committing = this.#write(items);
    // A failure is thrown where the commit is awaited.
    this.#committing.catch(() => undefined);
  }

  async #write(items: readonly LoadItem[]): Promise<void> {
    const { store, content } = this.#options;
    try {
      const writes = new Map<LoadItem, readonly ContentEdit[]>();
      for (const item of items) {
        const pieces = await Promise.all(item.content?.pieces ?? []);
        writes.set(item, writesOf(pieces));
      }
      await store.transact(async (tx) => {
        for (const item of items) {
          const effects = await effectsOf(tx, item, writes.get(item) ?? []);
          await applyEffects(content, tx, effects, tx.now);
        }
      });
    } catch (error) {
      // A record with a field of the wrong type, which no export writes.
      if (error instanceof TypeError || error instanceof RangeError) {
        throw invalid("a record cannot be stored", error);
      }
      throw error;
    } finally {
      await discardAll(content, items);
    }
  }

  #refuseOpen(): void {
    if (this.#open !== undefined) throw invalid("content is incomplete");
  }
}

/** Yields the encoded records of a frame. */
export function* recordsOf({ lengths, bytes }: RecordsFrame) {
  if (!Array.isArray(lengths) || lengths.length % 2 !== 0) throw invalid("records have no lengths");
  let at = 0;
  const next = (length: unknown): Uint8Array => {
    const isInside = Number.isSafeInteger(length) && Number(length) >= 0;
    if (!isInside || at + Number(length) > bytes.length) throw invalid("a record has no bytes");
    at += Number(length);
    // Copied, because a record must not keep the whole frame in memory.
    return new Uint8Array(bytes.subarray(at - Number(length), at));
  };
  for (let index = 0; index < lengths.length; index += 2) {
    yield { key: next(lengths[index]), value: next(lengths[index + 1]) };
  }
  if (at !== bytes.length) throw invalid("bytes belong to no record");
}

function emptyBatch(): Batch {
  return { items: [], bytes: 0, pieces: 0 };
}

async function discardAll(content: ContentStore, items: readonly LoadItem[]): Promise<void> {
  const pieces = items.flatMap((item) => item.content?.pieces ?? []);
  for (const settled of await Promise.allSettled(pieces)) {
    const received = settled.status === "fulfilled" ? settled.value.received : undefined;
    if (received !== undefined) content.discard(received);
  }
}

async function effectsOf(
  tx: Transaction,
  { record: loaded, content }: LoadItem,
  writes: readonly ContentEdit[],
): Promise<readonly Effect[]> {
  const { table, key, effects } = loaded;
  const put = { effect: "put", table, key } as const;
  if (content === undefined) {
    return [{ ...put, record: loaded.record, content: undefined }, ...effects];
  }
  if (content.isContinued) {
    const record = await recordAt(tx, table, key);
    return [{ ...put, record, content: edit(contentOf(table, record), ...writes) }];
  }
  const plan = await newContent(tx, content, writes);
  return [{ ...put, record: loaded.record, content: plan }, ...effects];
}

async function newContent(
  tx: Transaction,
  { length, base }: ItemContent,
  writes: readonly ContentEdit[],
): Promise<ContentPlan> {
  const before =
    base === undefined
      ? noContent
      : contentOf(base.table, await recordAt(tx, base.table, base.key));
  if (base !== undefined && writes.length === 0 && before.length === length) return share(before);
  return edit(before, { edit: "resize", length }, ...writes);
}

const noContent: ContentRef = { kind: "slices", length: 0, slices: [] };

async function recordAt(tx: Transaction, table: AnyTable, key: Key): Promise<object> {
  const value = await tx.get(key);
  if (value === undefined) throw invalid("content of a missing record");
  return table.codec.decode(value);
}

function contentOf(table: AnyTable, record: object): ContentRef {
  const ref = (record as Record<string, ContentRef | undefined>)[table.content ?? ""];
  if (ref === undefined) throw invalid("content of a record without content");
  return ref;
}

function earlierRecord(
  { table, key }: { readonly table: string; readonly key: Key },
  mapId: (id: bigint) => bigint,
) {
  const archived = tableOf(table);
  try {
    return { table: archived, key: mapKey(archived, key, mapId).key };
  } catch (error) {
    throw invalid("a key cannot be read", error);
  }
}

/** A record of an archive, after new ids have replaced those of the archive. */
interface LoadedRecord {
  /** The table of the record, in the form that accepts encoded keys (`withEncodedKeys`). */
  readonly table: AnyTable;
  readonly key: Key;
  readonly record: object;
  /** Counters and the reclaim job that belong to the record. */
  readonly effects: readonly Effect[];
}

type MapId = (id: bigint) => bigint;

interface ArchivedEntry {
  readonly table: string;
  readonly key: Key;
  readonly value: Value;
}

/** Decodes a record of an archive and replaces its ids. Throws `ArchiveRefused` if it is not valid:
 *  checksums protect from damage, but not from an archive that another program has made. */
export function loadedRecord(entry: ArchivedEntry, mapId: MapId): LoadedRecord {
  try {
    const table = tableOf(entry.table);
    const { key, parts } = mapKey(table, entry.key, mapId);
    const record = mapRecord(table, parts.slice(1), entry.value, mapId);
    const effects = dependentEffects(table, parts, record);
    return { table: withEncodedKeys(table), key, record, effects };
  } catch (error) {
    if (error instanceof ArchiveRefused) throw error;
    if (error instanceof RecordTooNew) throw writtenByNewer(error);
    throw new ArchiveRefused([`the archive has an invalid record (${entry.table})`], error);
  }
}

export function tableOf(name: string): AnyTable {
  const archived = recordTables.find((table) => table.isArchived && table.name === name);
  if (archived !== undefined) return archived;
  throw new ArchiveRefused([`the archive has records of a kind that is unknown here: ${name}`]);
}

/** The key of a record with new ids, and the parts of that key. */
function mapKey(table: AnyTable, key: Key, mapId: MapId) {
  const [owner, ...rest] = decodeKey(key, 1);
  if (key[0] !== table.tag || typeof owner !== "bigint") throw new Error("not a key of its table");
  const parts: readonly KeyPart[] = [mapId(owner), ...rest];
  return { key: encodeTaggedKey(table.tag, parts), parts };
}

function mapRecord(table: AnyTable, parts: readonly KeyPart[], value: Value, mapId: MapId): object {
  const record = table.codec.decode(value);
  refuseInvalidRecord(table, parts, record);
  const ids = idFieldsOf(table);
  if (ids.length === 0) return record;
  const fields = record as Readonly<Record<string, unknown>>;
  const mapped = ids.flatMap((field) => {
    const id = fields[field];
    return typeof id === "bigint" ? [[field, mapId(id)] as const] : [];
  });
  return { ...record, ...Object.fromEntries(mapped) };
}

/** The fields with the id of an owner, which a load replaces: of the record itself, or repeated. */
export function idFieldsOf({ defines, repeatsOwner }: AnyTable): readonly string[] {
  const fields = defines.map(({ field }) => field);
  return repeatsOwner === undefined ? fields : [...fields, repeatsOwner];
}

function dependentEffects(
  table: AnyTable,
  parts: readonly KeyPart[],
  record: object,
): readonly Effect[] {
  const job = periodJobOf(table, parts, record);
  const [owner] = parts as [bigint];
  const counts = (table.counters ?? []).flatMap(({ counter, of }) => {
    const added = of(record);
    return added === 0n ? [] : [add(counter.key(owner), added)];
  });
  return job === undefined ? counts : [{ effect: "reclaim", job }, ...counts];
}
