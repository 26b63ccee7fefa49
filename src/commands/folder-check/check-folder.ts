import { ContentAudit, type AuditFigures } from "../../content/audit/audit-content.ts";
import type { ExtentFiles } from "../../content/extents/extent-files.ts";
import { encryptedFiles } from "../../content/extents/encrypted-files.ts";
import { readingCipher, unwrapKeys } from "../../store/encryption/keyring.ts";
import {
  EncodedReader,
  keyringKey,
  keyringTag,
  recordCipher,
} from "../../store/encryption/record-cipher.ts";
import type { EngineReader, StateReader } from "../../store/engine.ts";
import type { ContentRef } from "../../content/content-ref.ts";
import { decodeKey, textOfKey, type KeyPart } from "../../encoding/keys.ts";
import type { AnyTable } from "../../encoding/table.ts";
import { reclaimJobs } from "../../operation/reclaim-jobs.ts";
import { counterBytes, decodeCounter, type Entry, type Key, type View } from "../../store/store.ts";
import { SnapshotView } from "../../store/layered-scan.ts";
import { messageOf } from "../../host/refused.ts";
import { contentTags } from "../../content/tables.ts";
import { recordCounters, recordRules, recordTables } from "../../data/services.ts";
import { ContentCount, noProgress, type ContentFigures, type Progress } from "../progress.ts";
import { openFolder, type FolderOptions } from "./open-folder.ts";
import type { ReclaimJob } from "../../operation/effects.ts";
import { definedIds, ownerOfJob } from "../../operation/owned-records.ts";

/** Carries out `etagere check`: verifies the records of a data folder, and with `ContentAudit` the
 *  contents that they refer to. */

/** A record that is compared with the declaration of its table: its owner must exist, and derived
 *  entries (indexes, counters) must be stored. `name` describes the record in reports. */
interface CheckedRecord {
  readonly table: AnyTable;
  readonly parts: readonly KeyPart[];
  readonly record: object;
  readonly name: () => string;
}

/** The kind of a reclaim job (a stored job that deletes records) that only earlier releases have
 *  stored. The third part of its scope is the id of a deleted queue. */
const earlierQueueJob = "queue-deleted";

/** Finds records without an owner, which would never be deleted. */
class Ownership {
  /** Ids with a reclaim job; part of their records may be deleted already. */
  readonly #reclaimed = new Set<bigint>();
  readonly #defined = new Set<bigint>();
  /** Owner ids that occur in keys, each with the name of the first record that has it. */
  readonly #referenced = new Map<bigint, string>();

  addJob(job: ReclaimJob): void {
    const id = job.kind === earlierQueueJob ? job.scope[2] : ownerOfJob(job)?.id;
    if (typeof id === "bigint") this.#reclaimed.add(id);
  }

  /** Whether the owner in a key has a reclaim job: then its records may be deleted already. */
  hasReclaimJob([first]: readonly KeyPart[]): boolean {
    return typeof first === "bigint" && this.#reclaimed.has(first);
  }

  add({ table, parts, record, name }: CheckedRecord): void {
    for (const { id } of definedIds(table, record)) this.#defined.add(id);
    const [first] = parts;
    if (table.owner === "store" || typeof first !== "bigint") return;
    if (!this.#referenced.has(first)) this.#referenced.set(first, name());
  }

  problems(): readonly string[] {
    return [...this.#referenced]
      .filter(([id]) => !this.#defined.has(id) && !this.#reclaimed.has(id))
      .map(([id, name]) => `${name} belongs to ${id}, which does not exist`);
  }
}

/** Checks the entries that operations derive from records: index entries, related entries
 *  (`relatedEntries` of the table) and counters. */
class DerivedEntries {
  readonly #view: View;
  readonly #complain: (problem: string) => void;
  readonly #expected = new Map<number, number>();
  readonly #found = new Map<number, number>();
  /** Expected value of each counter, by the hexadecimal form of the counter's key. */
  readonly #counts = new Map<string, bigint>();

  constructor(view: View, complain: (problem: string) => void) {
    this.#view = view;
    this.#complain = complain;
  }

  /** Adds a record. If it is being reclaimed, only its index entries are checked: a reclaim job
   *  deletes them with the record, but related entries and counters in other transactions. */
  async add(
    { table, parts, record, name }: CheckedRecord,
    { isBeingReclaimed }: { readonly isBeingReclaimed: boolean },
  ): Promise<void> {
    const { tag, role, relatedEntries, counters = [] } = table;
    const entries = [...(table.indexes?.(record, () => parts) ?? [])];
    const hasRelated = role === "related" || relatedEntries !== undefined || counters.length > 0;
    if (!isBeingReclaimed || !hasRelated) {
      if (role !== "record") increase(this.#found, tag, 1);
      const [owner] = parts as [bigint];
      for (const { counter, of } of counters) this.#addTo(counter.key(owner), of(record));
      for (const entry of relatedEntries?.(record, parts) ?? []) await this.#check(entry, name);
    }
    for (const entry of entries) await this.#check(entry, name);
  }

  /** Returns and removes the expected value of a counter; counters at 0 need not exist. */
  expectedCount(counter: Uint8Array): bigint {
    const text = Buffer.from(counter).toString("hex");
    const count = this.#counts.get(text) ?? 0n;
    this.#counts.delete(text);
    return count;
  }

  /** After all records: reports derived entries without a record, and missing counters. */
  finish(): void {
    for (const [tag, found] of this.#found) {
      const surplus = found - (this.#expected.get(tag) ?? 0);
      const name = recordTables.find((table) => table.tag === tag)?.name;
      if (surplus > 0) this.#complain(`${name}: ${surplus} entries without a record`);
    }
    for (const [counter, count] of this.#counts) {
      if (count !== 0n) this.#complain(`counter ${counter} is missing, expected ${count}`);
    }
  }

  async #check(
    { key, value: expected }: { readonly key: Uint8Array; readonly value?: Uint8Array | undefined },
    name: () => string,
  ): Promise<void> {
    const [tag = 0] = key;
    increase(this.#expected, tag, 1);
    const value = await this.#view.get(key);
    if (value === undefined) this.#complain(`${name()}: an entry of table ${tag} is missing`);
    else if (expected !== undefined && Buffer.compare(value, expected) !== 0) {
      this.#complain(`${name()}: an entry of table ${tag} has a wrong value`);
    }
  }

  #addTo(counter: Uint8Array, count: bigint): void {
    const text = Buffer.from(counter).toString("hex");
    this.#counts.set(text, (this.#counts.get(text) ?? 0n) + count);
  }
}

function increase(counts: Map<number, number>, tag: number, by: number): void {
  counts.set(tag, (counts.get(tag) ?? 0) + by);
}

export interface FolderReport extends AuditFigures, ContentFigures {
  readonly records: ReadonlyMap<string, number>;
  /** Descriptions of the first 1000 problems; `problemCount` counts all. */
  readonly problems: readonly string[];
  readonly problemCount: number;
}

const problemsKeptMax = 1000;
/** First bytes of keys that are checked elsewhere: of content, and of the keys for decryption. */
const otherTags: ReadonlySet<number> = new Set([...contentTags, keyringTag]);
const tablesByTag = new Map(recordTables.map((table) => [table.tag, table]));
const countersByTag = new Map(recordCounters.map((counter) => [counter.tag, counter]));
const wholeKeySpace = { start: Uint8Array.of(1), end: Uint8Array.of(0xff) };

interface CheckOptions extends FolderOptions {
  readonly progress?: Progress | undefined;
  /** The master key of an encrypted folder. */
  readonly master?: Uint8Array | undefined;
}

/** Checks one consistent state of a data folder, which servers may be using. */
export async function checkFolder(options: CheckOptions): Promise<FolderReport> {
  const folder = await openFolder(options);
  const state = folder.engine.open();
  try {
    const { entryCount } = folder.engine;
    const readable = decrypted(state, folder.files, options.master);
    const parts = { ...folder, files: readable.files, entryCount, progress: options.progress };
    return await checkState(readable.state, parts);
  } finally {
    state.close();
    await folder.close();
  }
}

/** The state and the extents of an encrypted folder, decrypted; those of another one unchanged. */
function decrypted(
  state: EngineReader,
  files: ExtentFiles,
  master: Uint8Array | undefined,
): { readonly state: EngineReader; readonly files: ExtentFiles } {
  const keyring = state.get(keyringKey, textOfKey(keyringKey));
  if (keyring === undefined) return { state, files };
  const keys = unwrapKeys(keyring.value, master);
  const cipher = readingCipher(keys);
  const codec = recordCipher(cipher, recordRules);
  return { state: new EncodedReader(state, codec), files: encryptedFiles(files, cipher) };
}

interface CheckedExtents {
  readonly files: ExtentFiles;
  /** Extents whose files existed before the state was opened. Later files have no record in it, and
   *  are not reported as left over. */
  readonly filesBefore: ReadonlySet<bigint>;
  /** Number of keys of the state, for the progress; undefined if it is not known. */
  readonly entryCount?: number | undefined;
  readonly progress?: Progress | undefined;
}

/** Checks one state of a store, and the extents that it refers to. Simulations call it, too. */
export async function checkState(
  state: StateReader,
  { files, filesBefore, entryCount, progress = noProgress }: CheckedExtents,
): Promise<FolderReport> {
  const view = new SnapshotView(state, state.ticks);
  const problems: string[] = [];
  let problemCount = 0;
  const complain = (problem: string): void => {
    problemCount += 1;
    if (problems.length < problemsKeptMax) problems.push(problem);
  };
  const onBytes = (bytes: number): void => progress.add({ bytes });
  const audit = new ContentAudit({ view, files, filesBefore, report: complain, onBytes });
  const { referencedBytes } = await audit.begin();
  progress.begin({ what: "checking", total: { items: entryCount, bytes: referencedBytes } });
  const { records, contents } = await new RecordCheck({ view, audit, complain, progress }).run();
  const figures = await audit.finish();
  return { ...figures, ...contents, records, problems, problemCount };
}

interface RecordCheckOptions {
  readonly view: View;
  readonly audit: ContentAudit;
  readonly complain: (problem: string) => void;
  readonly progress: Progress;
}

interface CheckedRecords {
  readonly records: ReadonlyMap<string, number>;
  readonly contents: ContentFigures;
}

class RecordCheck {
  readonly #view: View;
  readonly #audit: ContentAudit;
  readonly #complain: (problem: string) => void;
  readonly #progress: Progress;
  readonly #ownership = new Ownership();
  readonly #followUps: DerivedEntries;
  readonly #records = new Map<string, number>();
  readonly #contents = new ContentCount();

  constructor({ view, audit, complain, progress }: RecordCheckOptions) {
    this.#view = view;
    this.#audit = audit;
    this.#complain = complain;
    this.#progress = progress;
    this.#followUps = new DerivedEntries(view, complain);
  }

  async run(): Promise<CheckedRecords> {
    for await (const entries of this.#view.range(reclaimJobs.range([]))) {
      for (const entry of entries) this.#addJob(entry);
    }
    const counters: Entry[] = [];
    for await (const entries of this.#view.range(wholeKeySpace)) {
      for (const entry of entries) {
        const tag = tagOf(entry.key);
        const counter = countersByTag.get(tag);
        if (counter?.isSum === true) counters.push(entry);
        else if (counter === undefined && !otherTags.has(tag)) await this.#checkEntry(entry);
      }
      this.#progress.add({ items: entries.length });
    }
    for (const counter of counters) this.#checkCounter(counter);
    this.#followUps.finish();
    for (const problem of this.#ownership.problems()) this.#complain(problem);
    return { records: this.#records, contents: this.#contents.figures };
  }

  /** Adds a reclaim job, whose records may lack their owner. A job that cannot be decoded is
   *  reported by `#checkEntry`. */
  #addJob(entry: Entry): void {
    try {
      this.#ownership.addJob(reclaimJobs.codec.decode(entry.value));
    } catch {
      // `#checkEntry` reports it. Without the job, the records that it would remove are reported as
      // orphans, which they are: no server can run a job that it cannot decode.
    }
  }

  async #checkEntry(entry: Entry): Promise<void> {
    const { key } = entry;
    const table = tablesByTag.get(tagOf(key));
    if (table === undefined) {
      return this.#complain(`record of unknown kind: ${Buffer.from(key).toString("hex")}`);
    }
    try {
      // The value of an encrypted record is decrypted when it is read, which may fail.
      const { value } = entry;
      // A deleted lock or SMB open (volatile keys): the empty value marks the deletion.
      if (table.lifetime === "session" && value.length === 0) return;
      this.#records.set(table.name, (this.#records.get(table.name) ?? 0) + 1);
      await this.#checkRecord(table, key, table.codec.decode(value));
    } catch (error) {
      this.#complain(`${nameOf(table, key)} cannot be read: ${messageOf(error)}`);
    }
  }

  async #checkRecord(table: AnyTable, key: Key, record: unknown): Promise<void> {
    if (typeof record !== "object" || record === null) throw new Error("not a record");
    const parts = decodeKey(key, 1);
    const name = (): string => nameOf(table, key);
    const checked = { table, parts, record, name };
    this.#ownership.add(checked);
    this.#contents.add(table, record);
    const content =
      table.content === undefined
        ? undefined
        : (record as Record<string, ContentRef | undefined>)[table.content];
    if (content !== undefined) await this.#audit.addRecord(name(), key, content);
    else if (table.content !== undefined && table.mayLackContent !== true) {
      this.#complain(`${name()} has no content`);
    }
    const isBeingReclaimed = this.#ownership.hasReclaimJob(parts);
    await this.#followUps.add(checked, { isBeingReclaimed });
  }

  #checkCounter({ key, value }: Entry): void {
    const parts = decodeKey(key, 1);
    const wanted = this.#followUps.expectedCount(key);
    if (this.#ownership.hasReclaimJob(parts)) return;
    const name = `${countersByTag.get(tagOf(key))?.name} ${String(parts[0])}`;
    if (value.length !== counterBytes) return this.#complain(`${name} cannot be read`);
    const found = decodeCounter(value);
    if (found !== wanted) this.#complain(`${name}: counter is ${found}, expected ${wanted}`);
  }
}

function tagOf(key: Key): number {
  return key[0] ?? 0;
}

function nameOf(table: AnyTable, key: Key): string {
  const parts = decodeKey(key, 1).map((part) =>
    part instanceof Uint8Array ? Buffer.from(part).toString("hex") : String(part),
  );
  return `${table.name} ${parts.join(" / ")}`;
}
