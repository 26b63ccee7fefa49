import type { Awaitable } from "../base/awaitable.ts";
import {
  decodeKey,
  encodeTaggedKey,
  prefixBounds,
  taggedStringPrefixBounds,
  type KeyBounds,
  type KeyPart,
} from "./keys.ts";
import type { RecordCodec } from "./record.ts";
import type { Ticks } from "../base/ticks.ts";

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
  /** Whether archives contain the records. */
  readonly isArchived: boolean;
  /** The fields with an id that the record defines, and what the id names. When the record is
   *  removed, a reclaim job removes all that the id owns. */
  readonly defines?: { readonly [F in keyof R]?: OwnerKind };
  /** A field that repeats the id of the owner. */
  readonly repeatsOwner?: keyof R & string;
  /** The field that refers to stored content, if any; `operation/apply.ts` maintains its
   *  references. */
  readonly content?: keyof R & string;
  /** Whether records without content are valid, such as directories among files. */
  readonly mayLackContent?: true;
  /** Whether records have a field `lease`, which archives leave out. */
  readonly hasLease?: true;
  /** Set if the records are earlier states of the records of another table, whose keys are the
   *  first `keyParts` parts of the keys of this one. Their contents are often the same. */
  readonly earlierStateOf?: { readonly table: AnyTable; readonly keyParts: number };
  /** The index entries of a record; `operation/apply.ts` writes and deletes them together with the
   *  record. */
  readonly indexes?: IndexesOf<R>;
  /** Entries of tables with the role `related` that a record requires. */
  readonly relatedEntries?: (record: R, parts: readonly KeyPart[]) => readonly RelatedEntry[];
  /** Counters of the owner to which the record adds. */
  readonly counters?: readonly CounterShare<R>[];
  /** The notices that are stored with a change, for processes that wait for changes of these
   *  records. */
  readonly changeNotices?: ChangeNoticesOf<R>;
  /** The bytes of a record that count against the quota of its account; undefined if none do. */
  readonly countedBytes?: (record: R) => number;
  /** The time after which a record is removed. */
  readonly period?: Period<R>;
  /** Most records that one transaction of a reclaim job removes; undefined: the default. */
  readonly removalsMax?: number;
}

/** Declared by most tables: data that archives contain and that exists until it is deleted. */
export const archivedRecord = { lifetime: "durable", role: "record", isArchived: true } as const;

/** A table with the functions that reads and scans need. */
export interface Table<K, R> extends Omit<
  TableDefinition<K, R>,
  "key" | "content" | "defines" | "repeatsOwner"
> {
  readonly content?: string;
  readonly repeatsOwner?: string;
  readonly defines: readonly DefinedId[];
  /** Encodes the tag and the key tuple. */
  readonly key: (key: K) => Uint8Array;
  /** The key tuple. */
  readonly keyParts: (key: K) => readonly KeyPart[];
  /** The range of the records whose keys begin with `parts`. With a string prefix: those whose next
   *  part is a string that starts with it. `range([])` is the whole table. */
  readonly range: (parts: readonly KeyPart[], stringPrefix?: string) => KeyBounds;
  /** The bytes that all keys beginning with `parts` begin with, for `watch` and as the start of a
   *  range. */
  readonly prefix: (parts: readonly KeyPart[]) => Uint8Array;
  /** Decodes the tuple after the tag. */
  readonly parts: (key: Uint8Array) => KeyPart[];
}

/** A table whose record type is unknown, for code that handles all tables alike. */
export type AnyTable = Table<unknown, object>;

/** A field of a record whose value is the id that other records name as their owner. */
interface DefinedId {
  readonly field: string;
  readonly kind: OwnerKind;
}

/** The values by which a stored reclaim job identifies its record. */
export type JobScope = readonly (string | bigint)[];

/** The period of a record, and the reclaim job that removes the record at its end. Operations store
 *  the job with the record; a load derives it from the record. */
export interface Period<R> {
  /** Kinds of the job: one, or one per service. */
  readonly jobKinds: readonly [string, ...string[]];
  /** Which of several kinds a record has; undefined: the first. */
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
  /** Whether a job is for this record, and not for an earlier one with the same key. */
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

/** The number that each record of a table adds to a counter of its owner. */
interface CounterShare<R> {
  readonly counter: Counter;
  readonly of: (record: R) => bigint;
}

type ChangeNoticesOf<R> = (change: RecordChange<R>, view: NoticeView) => Promise<IndexEntry[]>;

/** A change of a record; `before` is undefined for a new record, `after` for a deleted one. */
export interface RecordChange<R> {
  readonly key: Uint8Array;
  readonly before: R | undefined;
  readonly after: R | undefined;
  /** Identifies the session that made the change and needs no notice; undefined if no session
   *  did. */
  readonly origin: string | undefined;
}

/** The reads that the computation of change notices may make, in the transaction of the change. */
export interface NoticeView {
  readonly now: Ticks;
  get(key: Uint8Array): Awaitable<Uint8Array | undefined>;
}

/** `parts` returns the tuple of the record's key. */
type IndexesOf<R> = (record: R, parts: () => readonly KeyPart[]) => readonly IndexEntry[];

export interface IndexEntry {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

/** `value` is set if the entry must have exactly this value. */
export type RelatedEntry = Pick<IndexEntry, "key"> & Partial<IndexEntry>;

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
        : taggedStringPrefixBounds(tag, parts, stringPrefix),
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

export function anyTable<K, R extends object>(table: Table<K, R>): AnyTable {
  return table as unknown as AnyTable;
}

/** The table with keys that are encoded already. */
export function withEncodedKeys(table: AnyTable): AnyTable {
  return { ...table, key: (key) => key as Uint8Array };
}
