import type { Awaitable } from "../base/awaitable.ts";
import {
  decodeKey,
  encodeTaggedKey,
  prefixBounds,
  stringPrefixBounds,
  type KeyBounds,
  type KeyPart,
} from "./keys.ts";
import type { Ticks } from "../base/ticks.ts";
import { Packr, RESERVE_START_SPACE, REUSE_BUFFER_MODE } from "msgpackr";

/** Declarations of tables of records, and the codec of their values. Every service declares its
 *  tables with `defineTable`. Reclaim jobs, `etagere check`, exports and quotas interpret the
 *  declarations, so that a new table needs no code in them. Only the load of an archive needs
 *  further checks of the fields of a table (`commands/archive/record-fields.ts`). */

/** What an id at the start of a key names. All records of a container are keyed by its id, so that
 *  deleting it is one small commit. The directories of a hierarchical account own the same tables
 *  as its containers. */
export type OwnerKind = "account" | "container" | "upload" | "queue" | "table" | "share";

/** How long records exist. `durable`: until they are deleted; saved states contain them. `session`:
 *  as long as the connection of an SMB client; the restore of a saved state removes them.
 *  `process`: as long as the server process that they are for; a restore leaves them alone. */
type Lifetime = "durable" | "session" | "process";

/** What the entries of a table are. `record`: data in its own right. `index`: derived by `indexes`
 *  of other tables. `related`: written by operations together with a record of
 *  another table, which lists them in `relatedEntries`. */
type EntryRole = "record" | "index" | "related";

/** The declaration of a table: all that reclaim jobs, `check`, export, load, quotas and the restore
 *  of saved states need to know of its records. */
interface TableDefinition<K, R> {
  readonly name: string;
  /** First byte of all keys. A tag is never reused for another table. */
  readonly tag: number;
  /** The key tuple, for example `[containerId, blobName]`. */
  readonly key: (key: K) => readonly KeyPart[];
  readonly codec: RecordCodec<R>;
  /** Whose id is the first part of every key. `store`: the keys begin with something else. */
  readonly owner: OwnerKind | "store";
  readonly lifetime: Lifetime;
  readonly role: EntryRole;
  /** Whether `etagere export` writes the records into archives. */
  readonly isArchived: boolean;
  /** The fields with an id that the record defines, and what the id names. When the record is
   *  removed, a reclaim job removes all that the id owns. */
  readonly defines?: { readonly [F in keyof R]?: OwnerKind };
  /** A field of the record that repeats the id of the owner; `etagere load`, which gives
   *  new ids, changes it, too. */
  readonly repeatsOwner?: keyof R & string;
  /** The field that refers to stored content, if any; `operation/apply.ts` counts references. */
  readonly content?: keyof R & string;
  /** Whether records without content are valid, as directories are among files. */
  readonly mayLackContent?: true;
  /** Whether records have a field `lease`, which archives leave out. */
  readonly hasLease?: true;
  /** Set if the records are earlier states of the records of another table, whose keys are the
   *  first `keyParts` parts of the keys of this one. Their contents are often the same. */
  readonly earlierStateOf?: { readonly table: AnyTable; readonly keyParts: number };
  /** The index entries of a record; `operation/apply.ts` writes and deletes them with it. */
  readonly indexes?: IndexesOf<R>;
  /** Entries of tables with the role `related` that a record requires. */
  readonly relatedEntries?: (record: R, parts: readonly KeyPart[]) => readonly RelatedEntry[];
  /** Counters of the owner to which the record adds. */
  readonly counters?: readonly CounterShare<R>[];
  /** The notices stored with a change, for processes that wait for changes of these records. */
  readonly changeNotices?: ChangeNoticesOf<R>;
  /** The bytes of a record that count against the quota of its account; undefined if none do. */
  readonly countedBytes?: (record: R) => number;
  /** When a reclaim job removes a record, as at the end of a retention; undefined: never. */
  readonly period?: Period<R>;
  /** Most records that one transaction of a reclaim job removes; undefined: the default. */
  readonly removalsMax?: number;
}

/** Declared by most tables: data that archives contain and that exists until it is deleted. */
export const archivedRecord = { lifetime: "durable", role: "record", isArchived: true } as const;

/** Declared by tables whose records archives leave out: they follow from other records, or matter
 *  only to this server. */
export const internalRecord = { ...archivedRecord, isArchived: false } as const;

/** A table as `defineTable` returns it: its declaration, and functions for its keys. */
export interface Table<K, R> extends Omit<
  TableDefinition<K, R>,
  "key" | "content" | "defines" | "repeatsOwner"
> {
  readonly content?: string;
  readonly repeatsOwner?: string;
  readonly defines: readonly DefinedId[];
  readonly key: (key: K) => Uint8Array;
  readonly keyParts: (key: K) => readonly KeyPart[];
  /** The range of the records whose keys begin with `parts`. With a string prefix: those whose next
   *  part is a string that starts with it. `range([])` is the whole table. */
  readonly range: (parts: readonly KeyPart[], stringPrefix?: string) => KeyBounds;
  /** The bytes with which keys with these first parts begin, for `watch` and as a start of
   *  ranges. */
  readonly prefix: (parts: readonly KeyPart[]) => Uint8Array;
  /** Decodes an encoded key to the key tuple, without the tag byte. */
  readonly parts: (key: Uint8Array) => KeyPart[];
}

/** A table whose record type is unknown, for code that handles all tables alike. */
export type AnyTable = Table<unknown, object>;

/** A field of a record with an id by which other records, those that it owns, are keyed. */
interface DefinedId {
  readonly field: string;
  readonly kind: OwnerKind;
}

/** The values by which a stored reclaim job (removal of records in the background) finds its
 *  record. */
export type JobScope = readonly (string | bigint)[];

/** The time for which a record is kept, and the reclaim job that removes it at the end. Operations
 *  store the job with the record; `etagere load` derives it from the record. */
export interface Period<R> {
  /** Kinds of the job: one, or one per service. */
  readonly jobKinds: readonly [string, ...string[]];
  /** Which of several job kinds a record has, by its key; undefined: the first kind. */
  readonly jobKindOf?: (parts: readonly KeyPart[]) => string;
  /** The values that the job stores, from which `keyPartsOf` finds the record again. */
  readonly scopeOf: (parts: readonly KeyPart[], record: R) => JobScope;
  /** When the period ends; undefined if the record has none. The job runs again at a later end. */
  readonly ends: (record: R) => Ticks | undefined;
  /** When the job tries again to remove a record that must be kept after its period; undefined if
   *  it need not be kept. */
  readonly postponedTo?: (record: R, now: Ticks) => Ticks | undefined;
  /** The key tuple of the record that a job is for. Undefined if the service has a job handler of
   *  its own. */
  readonly keyPartsOf?: (scope: JobScope) => readonly KeyPart[];
  /** Whether a stored job is for this record, and not for an earlier record with the same key;
   *  undefined: always. */
  readonly isFor?: (record: R, scope: JobScope) => boolean;
}

/** A number per owner that transactions add to without reading it, so that they do not conflict. */
export interface Counter {
  readonly name: string;
  readonly tag: number;
  readonly owner: OwnerKind;
  /** Whether it is the sum over the records of tables (`counters`). If not, `check` ignores it: a
   *  running server counts it again. */
  readonly isSum: boolean;
  readonly key: (owner: bigint) => Uint8Array;
}

/** What each record of a table adds to a counter of its owner. */
interface CounterShare<R> {
  readonly counter: Counter;
  readonly of: (record: R) => bigint;
}

type ChangeNoticesOf<R> = (
  change: RecordChange<R>,
  view: NoticeView,
) => Awaitable<readonly IndexEntry[]>;

/** A change of a record, from which its change notices are computed; `before` is undefined for a
 *  new record, `after` for a deleted one. */
export interface RecordChange<R> {
  readonly key: Uint8Array;
  readonly before: R | undefined;
  readonly after: R | undefined;
  /** The session that made the change and needs no notice; undefined if no session did. */
  readonly origin: string | undefined;
}

/** Read access for computing change notices, inside the transaction that makes the change. */
export interface NoticeView {
  readonly now: Ticks;
  get(key: Uint8Array): Awaitable<Uint8Array | undefined>;
}

/** Computes the index entries of a record. `parts` returns the tuple of its key, for those that
 *  need it. */
type IndexesOf<R> = (record: R, parts: () => readonly KeyPart[]) => readonly IndexEntry[];

/** An entry that is derived from a record: an encoded key and its value. */
export interface IndexEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** An entry that a record requires in another table; with this value, if `value` is set. */
export type RelatedEntry = Pick<IndexEntry, "key"> & Partial<IndexEntry>;

/** Creates a table from its declaration: with functions that encode and decode its keys. */
export function defineTable<K, R>(definition: TableDefinition<K, R>): Table<K, R> {
  const { name, tag, defines = {} } = definition;
  checkTag(name, tag);
  return {
    ...definition,
    defines: Object.entries(defines).map(([field, kind]) => ({ field, kind: kind as OwnerKind })),
    key: (key) => encodeTaggedKey(tag, definition.key(key)),
    keyParts: definition.key,
    range: (parts, stringPrefix) =>
      stringPrefix === undefined
        ? prefixBounds(encodeTaggedKey(tag, parts))
        : stringPrefixBounds(tag, parts, stringPrefix),
    prefix: (parts) => encodeTaggedKey(tag, parts),
    parts: (key) => decodeKey(key, 1),
  };
}

/** A table of the role `index`. Its entries are removed with their records. */
export function defineIndex<K, R>(
  definition: Pick<TableDefinition<K, R>, "name" | "tag" | "key" | "codec">,
): Table<K, R> {
  const index = { owner: "store", lifetime: "durable", role: "index", isArchived: false } as const;
  return defineTable({ ...definition, ...index });
}

export function defineCounter(definition: Omit<Counter, "key">): Counter {
  const { name, tag } = definition;
  checkTag(name, tag);
  return { ...definition, key: (owner) => encodeTaggedKey(tag, [owner]) };
}

function checkTag(name: string, tag: number): void {
  if (Number.isInteger(tag) && tag >= 1 && tag < 0xff) return;
  throw new RangeError(`tag of ${name} must be 1 to 254, got ${tag}`);
}

/** The table without the types of its keys and records, for lists of tables. */
export function anyTable<K, R extends object>(table: Table<K, R>): AnyTable {
  return table as unknown as AnyTable;
}

/** The same table for keys that are encoded already, as reclaim jobs find them in the store. */
export function withEncodedKeys(table: AnyTable): AnyTable {
  return { ...table, key: (key) => key as Uint8Array };
}

/** Encodes records as bytes. The first byte is the version of the format; records of older versions
 *  are migrated when they are read, for newer ones `RecordTooNew` is thrown. */
export interface RecordCodec<R> {
  encode(record: R): Uint8Array;
  decode(bytes: Uint8Array): R;
}

interface RecordCodecOptions<R> {
  /** 1 to 255; raised whenever the stored format changes. */
  readonly version: number;
  /** `migrate[n]` converts a record of version `n` to version `n + 1`. */
  readonly migrate?: Readonly<Record<number, (old: never) => unknown>>;
  /** Stores the values by position instead of by name. Records that were stored by name, before the
   *  shape was introduced, can still be read. */
  readonly shape?: Shape<R>;
}

/** Thrown for a record that a newer release has written. Decoding it would drop the fields that the
 *  newer release added. */
export class RecordTooNew extends Error {
  override readonly name = "RecordTooNew";
}

/** Undefined fields are omitted. Byte fields are decoded as views of the stored value, which
 *  engines never modify. A field named `__proto__` is lost: names that users choose must be stored
 *  as arrays of pairs. */
const packOptions = {
  useRecords: false,
  copyBuffers: false,
  int64AsType: "bigint" as const,
  skipValues: [undefined],
};
const versionBytes = 1;

/** Records are encoded one after the other into buffers of this size. The library keeps the size of
 *  the buffer that it is given, and all codecs share it. Its own 8 KiB are full after a few records
 *  with content: allocating and freeing them took 3 % of the CPU time of Put Blob. */
const encodedBytes = 64 * 1024;
new Packr().useBuffer(Buffer.allocUnsafeSlow(encodedBytes));

/** What `pack` returns in the mode that creates no array for the result: the shared buffer, and
 *  where in it the result is. */
interface Packed extends Uint8Array {
  readonly start: number;
  readonly end: number;
}
const packMode = REUSE_BUFFER_MODE | RESERVE_START_SPACE | versionBytes;

interface DecodeCacheOptions {
  /** Maximum number of cached records. */
  readonly slots?: number;
  /** Records of fewer bytes are not cached: decoding them is cheap. Undefined: all are cached. */
  readonly bytesMin?: number;
}

/** Adds a cache of decoded records to a codec, keyed by their bytes, for records that nearly every
 *  request reads, such as accounts and containers. Each record has one possible slot, and replaces
 *  the record in it. Saves 6 % of the CPU time of Get Blob and of Insert Entity. */
export function withDecodeCache<R>(
  codec: RecordCodec<R>,
  { slots = slotsDefault, bytesMin = 0 }: DecodeCacheOptions = {},
): RecordCodec<R> {
  const cache: ({ readonly bytes: Uint8Array; readonly record: R } | undefined)[] = [];
  // Requests that share a view get the same array for a record, and need not compare its bytes.
  let lastBytes: Uint8Array | undefined;
  let lastRecord: R;
  const decodeCached = (bytes: Uint8Array): R => {
    const slot = hashOf(bytes) % slots;
    const cached = cache[slot];
    if (cached !== undefined && isSame(cached.bytes, bytes)) return cached.record;
    const ownBytes = new Uint8Array(bytes);
    const record = codec.decode(ownBytes);
    cache[slot] = { bytes: ownBytes, record };
    return record;
  };
  return {
    encode: (record) => codec.encode(record),
    decode(bytes) {
      if (bytes === lastBytes) return lastRecord;
      if (bytes.length < bytesMin) return codec.decode(bytes);
      lastRecord = decodeCached(bytes);
      lastBytes = bytes;
      return lastRecord;
    },
  };
}

const slotsDefault = 256;
const hashFactor = 31;
const hashedBytesMax = 32;
/** Up to this many bytes, a loop is faster than a native comparison. */
const loopBytesMax = 1024;

/** A hash of at most 32 bytes, spread over the record, as records may differ anywhere. */
function hashOf(bytes: Uint8Array): number {
  const step = Math.ceil(bytes.length / hashedBytesMax);
  let hash = bytes.length;
  for (let at = 0; at < bytes.length; at += step) hash = (hash * hashFactor + bytes[at]!) | 0;
  return hash >>> 0;
}

function isSame(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  if (left.length > loopBytesMax)
    return Buffer.from(left.buffer, left.byteOffset, left.length).equals(right);
  for (let at = 0; at < left.length; at += 1) if (left[at] !== right[at]) return false;
  return true;
}

/** Returns the codec of a table's records: MessagePack after the version byte. */
export function recordCodec<R>(options: RecordCodecOptions<R>): RecordCodec<R> {
  const { version, migrate = {} } = options;
  const positions = options.shape && positionsOf(options.shape);
  const packr = new Packr(packOptions);
  return {
    encode(record) {
      const stored = positions === undefined ? record : toValues(positions, record as object);
      const packed = packr.pack(stored, packMode) as Buffer & Packed;
      const { start, end } = packed;
      packed[start] = version;
      return new Uint8Array(packed.buffer, packed.byteOffset + start, end - start);
    },
    decode(bytes) {
      const foundVersion = bytes[0] ?? 0;
      if (foundVersion > version) {
        throw new RecordTooNew(
          `record has version ${foundVersion}; this release supports up to ${version}`,
        );
      }
      let record: unknown = packr.unpack(bytes.subarray(versionBytes));
      if (positions !== undefined && Array.isArray(record)) record = fromValues(positions, record);
      for (let step = foundVersion; step < version; step += 1) {
        const migrateStep = migrate[step];
        if (migrateStep === undefined) {
          throw new Error(`no migration from record version ${step} to ${step + 1}`);
        }
        record = migrateStep(record as never);
      }
      return record as R;
    },
  };
}

/** The fields of a record in a fixed order. Records with a shape are stored as arrays of their
 *  values in this order: without field names they are shorter and several times faster to decode.
 *  New fields are appended to a shape; none is ever removed. */
type Shape<T> = { readonly [K in keyof T]-?: true | Shape<NonNullable<T[K]>> };

/** A field of a shape; `shape` is undefined unless its value is a record with a shape. */
interface Position {
  readonly name: string;
  readonly shape: Positions | undefined;
}

type Positions = readonly Position[];

/** Converts a shape to the list that `toValues` and `fromValues` use. */
export function positionsOf<T>(shape: Shape<T>): Positions {
  return Object.entries<unknown>(shape).map(([name, inner]) => ({
    name,
    shape: inner === true ? undefined : positionsOf(inner as Shape<Record<string, unknown>>),
  }));
}

/** The values of a record by position, null for undefined fields. The array ends with the last
 *  defined field. */
export function toValues(positions: Positions, record: object): unknown[] {
  const fields = record as Readonly<Record<string, unknown>>;
  const values: unknown[] = [];
  for (let at = 0; at < positions.length; at += 1) {
    const { name, shape } = positions[at]!;
    const value = fields[name];
    if (value === undefined) continue;
    while (values.length < at) values.push(null);
    values.push(shape === undefined ? value : toValues(shape, value as object));
  }
  return values;
}

/** The record with these values by position; the inverse of `toValues`. */
export function fromValues(positions: Positions, values: readonly unknown[]): object {
  const record: Record<string, unknown> = {};
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (value === null) continue;
    const { name, shape } = positions[at]!;
    record[name] = shape === undefined ? value : fromValues(shape, value as unknown[]);
  }
  return record;
}
