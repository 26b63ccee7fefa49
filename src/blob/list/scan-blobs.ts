import type { RecordView, Scanned } from "../../operation/view.ts";
import type { Table } from "../../encoding/table.ts";
import { blobNameUnitsMax } from "../../protocol/names.ts";
import type { AclCaller } from "../../protocol/posix-access.ts";
import { isLive } from "../block/read-blocks.ts";
import { ticksMax, type Ticks } from "../../base/ticks.ts";
import { blobs, generations, isExpired, uploads, type BlobRecord } from "../records.ts";
import { generationsOf, isRestorable } from "../shared/overwrite.ts";
import { successor } from "../../encoding/keys.ts";

/** Reads one page of a listing of blobs: merges current blobs, their generations (snapshots,
 *  versions, soft-deleted states) and uncommitted blobs, which are in three tables, in the order of
 *  names. `list-blobs.ts` lists flat accounts with it, `blob/tree/list-tree.ts` single
 *  directories. */

/** Which entries of a container a listing contains, by the parameters of its request. */
export interface Selection {
  readonly container: bigint;
  readonly prefix: string;
  readonly delimiter: string;
  /** Marker of the first entry to list (`markerOf`): its name, and which state of the blob it
   *  is. */
  readonly from: readonly string[] | undefined;
  /** The listing ends before this name; undefined: no end. */
  readonly endBefore?: string | undefined;
  readonly limit: number;
  readonly snapshots: boolean;
  readonly versions: boolean;
  readonly deleted: boolean;
  /** Whether names that have only earlier versions are listed, with one entry each. */
  readonly deletedWithVersions: boolean;
  readonly onlyDeleted: boolean;
  readonly uncommitted: boolean;
  /** Lists only files or only directories; undefined: both. Only `listTree` applies it
   *  (hierarchical accounts). */
  readonly kind?: "files" | "directories" | undefined;
  /** The caller, if access control lists limit what it may list. Only `listTree` applies it. */
  readonly caller?: AclCaller | undefined;
}

export type ListEntry =
  | {
      readonly kind: "blob";
      readonly name: string;
      readonly record: BlobRecord;
      /** Set if the entry stands for all versions of a name that has no current version. */
      readonly versionsOnly?: true;
    }
  | { readonly kind: "uncommitted"; readonly name: string }
  | {
      readonly kind: "prefix";
      readonly name: string;
      /** The directory that the prefix names, set by `listTree`; undefined on flat accounts. */
      readonly record?: BlobRecord;
    };

export interface Page {
  /** Marker of the next page; undefined at the end. */
  readonly next: readonly string[] | undefined;
  /** Whether access control lists forbid the caller to list some of the entries. */
  readonly isDenied?: boolean;
}

/** Most records that are buffered per table, which bounds the memory of a listing. */
const batchEntriesMax = 256;
/** Size of the first read, and of the first read after each skipped prefix, if the request has a
 *  delimiter: small, because the next prefix may skip the rest. */
const seekBatchMin = 32;

/** Emits one page in the order of names: for each name first its generations (snapshots, earlier
 *  versions, soft-deleted states), oldest first, then the current blob. Blobs below a listed prefix
 *  are skipped by a seek. Records that the request does not list (expired blobs, other kinds of
 *  generations) are read, so that a page may read more records than it returns. */
export async function scanBlobs(
  view: RecordView,
  selection: Selection,
  emit: (entry: ListEntry) => void,
): Promise<Page> {
  const sources = openSources(view, selection);
  let emitted = 0;
  for (;;) {
    for (const source of sources) if (source.isDrained()) await source.fill();
    const source = firstByName(sources);
    const name = source?.name();
    if (source === undefined || name === undefined) return { next: undefined };
    const listedPrefix = prefixOf(name, selection);
    const found = listedPrefix ?? source.entry();
    // `await` only for promises: they occur only if the source had to read another table.
    const listed = found instanceof Promise ? await found : found;
    if (listed !== undefined) {
      if (emitted >= selection.limit) {
        return { next: listedPrefix === undefined ? source.marker() : [name] };
      }
      emit(listed);
      emitted += 1;
    }
    if (listedPrefix === undefined) source.step();
    else for (const each of sources) each.skipPast(listedPrefix.name);
  }
}

/** The entries of one table in the order of names; `scanBlobs` merges several. */
interface EntrySource {
  readonly isDrained: () => boolean;
  readonly fill: () => Promise<void>;
  /** Name of the current record; undefined at the end. */
  readonly name: () => string | undefined;
  /** The marker of a page that starts at the current record. */
  readonly marker: () => readonly string[];
  /** The entry of the current record; undefined if it is not listed. */
  readonly entry: () => ListEntry | undefined | Promise<ListEntry | undefined>;
  readonly step: () => void;
  readonly skipPast: (prefix: string) => void;
}

/** The source whose current name comes first; of equal names the source that was opened first: that
 *  of the generations, which are listed before their blob. */
function firstByName(sources: readonly EntrySource[]): EntrySource | undefined {
  let best: EntrySource | undefined;
  let bestName = "";
  for (const source of sources) {
    const name = source.name();
    if (name === undefined || (best !== undefined && !comesBefore(name, bestName))) continue;
    best = source;
    bestName = name;
  }
  return best;
}

/** Compares names in the order of keys: by UTF-8 bytes, not by UTF-16 units as `<` does. */
function comesBefore(left: string, right: string): boolean {
  return left !== right && Buffer.compare(Buffer.from(left), Buffer.from(right)) < 0;
}

function prefixOf(name: string, { prefix, delimiter }: Selection) {
  if (delimiter === "") return undefined;
  const at = name.indexOf(delimiter, prefix.length);
  if (at < 0) return undefined;
  return { kind: "prefix", name: name.slice(0, at + delimiter.length) } as const;
}

function openSources(view: RecordView, selection: Selection): readonly EntrySource[] {
  const { snapshots, versions, deleted, deletedWithVersions, onlyDeleted, uncommitted } = selection;
  const sources: EntrySource[] = [];
  if (snapshots || versions || deleted || deletedWithVersions || onlyDeleted) {
    sources.push(
      openSource(view, generations, selection, (name, record) => {
        if (isShown(record, selection, view.now)) return { kind: "blob", name, record };
        return deletedWithVersions ? versionsOnly(view, selection, name, record) : undefined;
      }),
    );
  }
  if (!onlyDeleted) {
    sources.push(
      openSource(view, blobs, selection, (name, record) =>
        isExpired(record, view.now) ? undefined : { kind: "blob", name, record },
      ),
    );
  }
  if (uncommitted) {
    sources.push(
      openSource(view, uploads, selection, async (name, upload) => {
        if (!isLive(upload, view.now)) return undefined;
        const committed = await view.get(blobs, { container: selection.container, name });
        return committed === undefined ? { kind: "uncommitted", name } : undefined;
      }),
    );
  }
  return sources;
}

function isShown(record: BlobRecord, selection: Selection, now: Ticks): boolean {
  const { snapshots, versions, deleted, onlyDeleted } = selection;
  if (record.deleted !== undefined) return (deleted || onlyDeleted) && isRestorable(record, now);
  if (onlyDeleted) return false;
  return record.snapshot === undefined ? versions : snapshots;
}

/** The entry that represents a deleted name of which only versions are left; undefined unless
 *  `record` is the last of them, so that the name is listed once. */
async function versionsOnly(
  view: RecordView,
  { container }: Selection,
  name: string,
  record: BlobRecord,
): Promise<ListEntry | undefined> {
  if (record.superseded !== true || record.deleted !== undefined) return undefined;
  if ((await view.get(blobs, { container, name })) !== undefined) return undefined;
  const kept = await generationsOf(view, { container, name });
  const versions = kept.filter(
    ({ key, record: { deleted } }) => key.kind === "version" && !deleted,
  );
  if (versions.at(-1)?.record.versionId !== record.versionId) return undefined;
  const shown = { ...record, versionId: undefined, superseded: undefined };
  return { kind: "blob", name, record: shown, versionsOnly: true };
}

function openSource<K, R>(
  view: RecordView,
  table: Table<K, R>,
  selection: Selection,
  list: (name: string, record: R) => ListEntry | undefined | Promise<ListEntry | undefined>,
): EntrySource {
  const { container, delimiter, from, limit } = selection;
  const within = boundsOf(table, selection);
  const batchMax = Math.min(limit + 1, batchEntriesMax);
  const batchMin = delimiter === "" ? batchMax : Math.min(batchMax, seekBatchMin);
  const cursor = new RecordCursor(view, table, { ...within, batchMin, batchMax });
  if (from !== undefined) cursor.seek(keyOfMarker(table, container, from));
  return {
    isDrained: () => cursor.isDrained,
    fill: () => cursor.fill(),
    name: () => cursor.name,
    marker: () => (cursor.current === undefined ? [] : markerOf(table, cursor.current.key)),
    entry: () => {
      const { current, name } = cursor;
      return current && name !== undefined ? list(name, current.record) : undefined;
    },
    step: () => cursor.step(),
    skipPast: (prefix) => cursor.seek(table.range([container], prefix).end),
  };
}

export function boundsOf<K, R>(
  table: Table<K, R>,
  { container, prefix, endBefore }: Selection,
): { readonly start: Uint8Array; readonly end: Uint8Array } {
  const { start, end } = table.range([container], prefix);
  if (endBefore === undefined) return { start, end };
  const before = table.prefix([container, endBefore]);
  if (Buffer.compare(before, end) >= 0) return { start, end };
  return { start, end: Buffer.compare(before, start) <= 0 ? start : before };
}

/** The marker of a record: its name and `base` for a current or uncommitted blob; name, time and
 *  number of the kind (0 to 2) for a generation. Generations of a name are listed before the
 *  current blob. */
export function markerOf<K, R>(table: Table<K, R>, key: Uint8Array): readonly string[] {
  const [, name, ...generation] = table.parts(key);
  const rest = table.tag === generations.tag ? generation.map(String) : ["base"];
  return [name as string, ...rest];
}

/** The key at which the page starts that a client requests with this marker. */
export function keyOfMarker<K, R>(
  table: Table<K, R>,
  container: bigint,
  [text = "", at, kind = "0"]: readonly string[],
): Uint8Array {
  // Markers of `listTree` (hierarchical accounts) have longer texts, which would not fit into a
  // key.
  const name = text.slice(0, blobNameUnitsMax);
  if (table.tag !== generations.tag || at === undefined) return table.prefix([container, name]);
  if (at === "base") return table.range([container, name]).end;
  // A marker is client input, so it may be malformed.
  const isGeneration = /^\d{1,19}$/.test(at) && BigInt(at) <= ticksMax && /^[012]$/.test(kind);
  if (!isGeneration) return table.prefix([container, name]);
  return table.prefix([container, name, BigInt(at), Number(kind)]);
}

/** The range of keys that a cursor reads, and in which steps. */
interface CursorBounds {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  /** Records per read. Reads start with `batchMin` and double up to `batchMax`; a seek starts again
   *  with `batchMin`. */
  readonly batchMin: number;
  readonly batchMax: number;
}

/** A cursor over a range of records, buffered in batches. Listings read blobs of one container with
 *  it, in the order of names; searches by tags read the tag indexes. */
export class RecordCursor<K, R> {
  readonly #view: RecordView;
  readonly #table: Table<K, R>;
  readonly #bounds: CursorBounds;
  #start: Uint8Array;
  #batch: number;
  #buffer: readonly Scanned<R>[] = [];
  #at = 0;
  #exhausted = false;
  #name: string | undefined;

  constructor(view: RecordView, table: Table<K, R>, bounds: CursorBounds) {
    this.#view = view;
    this.#table = table;
    this.#bounds = bounds;
    this.#start = bounds.start;
    this.#batch = bounds.batchMin;
  }

  /** Whether all buffered records are used and `fill` may find more. */
  get isDrained(): boolean {
    return this.#at >= this.#buffer.length && !this.#exhausted;
  }

  /** The record at the cursor; undefined at the end or if `fill` is needed. */
  get current(): Scanned<R> | undefined {
    return this.#buffer[this.#at];
  }

  get name(): string | undefined {
    const entry = this.#buffer[this.#at];
    if (entry === undefined) return undefined;
    this.#name ??= this.#table.parts(entry.key)[1] as string;
    return this.#name;
  }

  step(): void {
    this.#at += 1;
    this.#name = undefined;
  }

  /** Moves forward to the first key that is not smaller than `start`. */
  seek(start: Uint8Array): void {
    while (this.#at < this.#buffer.length) {
      if (Buffer.compare(this.#buffer[this.#at]!.key, start) >= 0) return;
      this.step();
    }
    if (Buffer.compare(start, this.#start) <= 0) return;
    this.#start = start;
    this.#batch = this.#bounds.batchMin;
    this.#exhausted = Buffer.compare(start, this.#bounds.end) >= 0;
  }

  /** Reads the next batch of records into the buffer; called if `isDrained`. */
  async fill(): Promise<void> {
    const limit = this.#batch;
    const collected: Scanned<R>[] = [];
    const bounds = { start: this.#start, end: this.#bounds.end, limit };
    for await (const batch of this.#view.scan(this.#table, bounds)) {
      for (const entry of batch) collected.push(entry);
    }
    this.#buffer = collected;
    this.#at = 0;
    this.#name = undefined;
    this.#batch = Math.min(limit * 2, this.#bounds.batchMax);
    const last = collected.at(-1);
    if (last !== undefined) this.#start = successor(last.key);
    this.#exhausted = collected.length < limit;
  }
}
