import type { Awaitable } from "../base/awaitable.ts";
import { decodeKey } from "./key-decoding.ts";
import { encodeTaggedKey, prefixBounds, taggedStringPrefixBounds } from "./keys.ts";
import type { KeyBounds, KeyPart } from "./keys.ts";
import type { RecordCodec } from "./record.ts";
import type { Ticks } from "../base/ticks.ts";

/** One kind of record in the key space. `tag` is the first byte of all its keys, never reused. */
export interface Table<K, R> {
  readonly name: string;
  readonly tag: number;
  /** The tuple below the tag, e.g. `[containerId, blobName]`. */
  readonly key: (key: K) => Uint8Array;
  readonly codec: RecordCodec<R>;
  /** The field that refers to stored bytes, if any: the execution layer keeps its references. */
  readonly content?: keyof R & string;
  /** Entries elsewhere that follow from a record: written and removed together with it, by the
   *  execution layer, whoever writes the record. `parts` gives the tuple of its key. */
  readonly indexes?: IndexesOf<R>;
  /** Messages about a change, written with it, to those who wait for changes. */
  readonly changeNotices?: ChangeNoticesOf<R>;
}

export type ChangeNoticesOf<R> = (
  change: RecordChange<R>,
  view: NoticeView,
) => Promise<IndexEntry[]>;

export interface RecordChange<R> {
  readonly key: Uint8Array;
  readonly before: R | undefined;
  readonly after: R | undefined;
  /** Whoever knows of the change without being told. */
  readonly origin: string | undefined;
}

export interface NoticeView {
  readonly now: Ticks;
  get(key: Uint8Array): Awaitable<Uint8Array | undefined>;
}

export type IndexesOf<R> = (record: R, parts: () => readonly KeyPart[]) => readonly IndexEntry[];

export interface IndexEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** A table with what scans need: where a part of it lies, and the tuple behind a key. */
export interface DefinedTable<K, R> extends Table<K, R> {
  /** The records below a partial tuple; with a string prefix, those whose next part is a string
   *  that starts with it. `range([])` is the whole table. */
  readonly range: (parts: readonly KeyPart[], stringPrefix?: string) => KeyBounds;
  /** What all keys below a partial tuple begin with: for `watch`, and to start a range after it. */
  readonly prefix: (parts: readonly KeyPart[]) => Uint8Array;
  /** The tuple below the tag. */
  readonly parts: (key: Uint8Array) => KeyPart[];
}

export interface TableDefinition<K, R> {
  readonly name: string;
  readonly tag: number;
  readonly key: (key: K) => readonly KeyPart[];
  readonly codec: RecordCodec<R>;
  readonly content?: keyof R & string;
  readonly indexes?: IndexesOf<R>;
  readonly changeNotices?: ChangeNoticesOf<R>;
}

export function defineTable<K, R>(definition: TableDefinition<K, R>): DefinedTable<K, R> {
  const { name, tag, codec, content, indexes, changeNotices } = definition;
  if (!Number.isInteger(tag) || tag < 1 || tag >= 0xff) {
    throw new RangeError(`the tag of ${name} must be a byte from 1 to 254`);
  }
  return {
    name,
    tag,
    codec,
    ...(content === undefined ? {} : { content }),
    ...(indexes === undefined ? {} : { indexes }),
    ...(changeNotices === undefined ? {} : { changeNotices }),
    key: (key) => encodeTaggedKey(tag, definition.key(key)),
    range: (parts, stringPrefix) =>
      stringPrefix === undefined
        ? prefixBounds(encodeTaggedKey(tag, parts))
        : taggedStringPrefixBounds(tag, parts, stringPrefix),
    prefix: (parts) => encodeTaggedKey(tag, parts),
    parts: (key) => decodeKey(key, 1),
  };
}

/** A table as the layers see it that handle all of them alike. */
export interface AnyTable {
  readonly name: string;
  readonly tag: number;
  readonly key: (key: unknown) => Uint8Array;
  readonly codec: RecordCodec<object>;
  readonly content?: string;
  readonly indexes?: IndexesOf<object>;
  readonly changeNotices?: ChangeNoticesOf<object>;
}

export function anyTable<K, R extends object>(table: Table<K, R>): AnyTable {
  return table as unknown as AnyTable;
}
