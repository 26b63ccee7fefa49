import type { Awaitable } from "../base/awaitable.ts";
import { decodeKey } from "./key-decoding.ts";
import { encodeTaggedKey, prefixBounds, taggedStringPrefixBounds } from "./keys.ts";
import type { KeyBounds, KeyPart } from "./keys.ts";
import type { RecordCodec } from "./record.ts";
import type { Ticks } from "../base/ticks.ts";

/** The records of one kind. `tag` is the first byte of all their keys; a tag is never reused for
 *  another table. */
export interface Table<K, R> {
  readonly name: string;
  readonly tag: number;
  /** Encodes the tag and the key tuple, for example `[containerId, blobName]`. */
  readonly key: (key: K) => Uint8Array;
  readonly codec: RecordCodec<R>;
  /** The field that refers to stored content, if any; `operation/apply.ts` maintains its
   *  references. */
  readonly content?: keyof R & string;
  /** Computes the index entries of a record; `operation/apply.ts` writes and deletes them together
   *  with the record. `parts` returns the tuple of the record's key. */
  readonly indexes?: IndexesOf<R>;
  /** Computes the notices that are stored with a change, for processes that wait for changes of
   *  these records. */
  readonly changeNotices?: ChangeNoticesOf<R>;
  /** The bytes of a record that count against the quota of its account; undefined if none do. */
  readonly countedBytes?: (record: R) => number;
}

export type ChangeNoticesOf<R> = (
  change: RecordChange<R>,
  view: NoticeView,
) => Promise<IndexEntry[]>;

/** A change of a record; `before` is undefined for a new record, `after` for a deleted one. */
export interface RecordChange<R> {
  readonly key: Uint8Array;
  readonly before: R | undefined;
  readonly after: R | undefined;
  /** Identifies the session that made the change and needs no notice; undefined if no session
   *  did. */
  readonly origin: string | undefined;
}

/** What the computation of notices may read. */
export interface NoticeView {
  readonly now: Ticks;
  get(key: Uint8Array): Awaitable<Uint8Array | undefined>;
}

export type IndexesOf<R> = (record: R, parts: () => readonly KeyPart[]) => readonly IndexEntry[];

export interface IndexEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** A table with the functions that scans need: ranges, prefixes and key decoding. */
export interface DefinedTable<K, R> extends Table<K, R> {
  /** The range of the records whose keys begin with `parts`. With a string prefix: those whose next
   *  part is a string that starts with it. `range([])` is the whole table. */
  readonly range: (parts: readonly KeyPart[], stringPrefix?: string) => KeyBounds;
  /** The bytes that all keys beginning with `parts` begin with, for `watch` and as the start of a
   *  range. */
  readonly prefix: (parts: readonly KeyPart[]) => Uint8Array;
  /** Decodes the tuple after the tag. */
  readonly parts: (key: Uint8Array) => KeyPart[];
}

/** A table as it is declared: `key` returns the tuple instead of its encoding. */
export interface TableDefinition<K, R> {
  readonly name: string;
  readonly tag: number;
  readonly key: (key: K) => readonly KeyPart[];
  readonly codec: RecordCodec<R>;
  readonly content?: keyof R & string;
  readonly indexes?: IndexesOf<R>;
  readonly changeNotices?: ChangeNoticesOf<R>;
  readonly countedBytes?: (record: R) => number;
}

export function defineTable<K, R>(definition: TableDefinition<K, R>): DefinedTable<K, R> {
  const { name, tag, codec, content, indexes, changeNotices, countedBytes } = definition;
  if (!Number.isInteger(tag) || tag < 1 || tag >= 0xff) {
    throw new RangeError(`tag of table ${name} must be 1 to 254, got ${tag}`);
  }
  return {
    name,
    tag,
    codec,
    ...(content === undefined ? {} : { content }),
    ...(indexes === undefined ? {} : { indexes }),
    ...(changeNotices === undefined ? {} : { changeNotices }),
    ...(countedBytes === undefined ? {} : { countedBytes }),
    key: (key) => encodeTaggedKey(tag, definition.key(key)),
    range: (parts, stringPrefix) =>
      stringPrefix === undefined
        ? prefixBounds(encodeTaggedKey(tag, parts))
        : taggedStringPrefixBounds(tag, parts, stringPrefix),
    prefix: (parts) => encodeTaggedKey(tag, parts),
    parts: (key) => decodeKey(key, 1),
  };
}

/** A table whose record type is unknown, for code that handles all tables alike. */
export interface AnyTable {
  readonly name: string;
  readonly tag: number;
  readonly key: (key: unknown) => Uint8Array;
  readonly codec: RecordCodec<object>;
  readonly content?: string;
  readonly indexes?: IndexesOf<object>;
  readonly changeNotices?: ChangeNoticesOf<object>;
  readonly countedBytes?: (record: object) => number;
}

export function anyTable<K, R extends object>(table: Table<K, R>): AnyTable {
  return table as unknown as AnyTable;
}
