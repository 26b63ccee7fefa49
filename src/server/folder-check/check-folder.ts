import { ContentAudit, type ContentFigures } from "../../content/audit/audit-content.ts";
import type { ContentRef } from "../../content/content-ref.ts";
import { decodeKey } from "../../encoding/key-decoding.ts";
import type { AnyTable } from "../../encoding/table.ts";
import { locks } from "../../file/records.ts";
import { reclaimJobs } from "../../operation/reclaim-jobs.ts";
import { counterBytes, decodeCounter } from "../../store/counter.ts";
import { snapshotView } from "../../store/snapshot-view.ts";
import type { Entry, Key, Value, View } from "../../store/store.ts";
import { messageOf } from "../start-refused.ts";
import { DerivedEntries } from "./derived-entries.ts";
import {
  alwaysWithContent,
  counterNames,
  ownContentTags,
  tablesByTag,
  uncheckedTags,
  tagOf,
} from "./known-tables.ts";
import { openFolder, type FolderOptions } from "./open-folder.ts";
import { Ownership } from "./ownership.ts";

/** The result of `etagere check`. */
export interface FolderReport extends ContentFigures {
  /** Number of records per kind. */
  readonly records: ReadonlyMap<string, number>;
  /** Descriptions of the first problems; `problemCount` counts all. */
  readonly problems: readonly string[];
  readonly problemCount: number;
}

const problemsKeptMax = 1000;
const wholeKeySpace = { start: Uint8Array.of(1), end: Uint8Array.of(0xff) };

/** Checks one consistent state of a data folder, which servers may be using. */
export async function checkFolder(options: FolderOptions): Promise<FolderReport> {
  const folder = await openFolder(options);
  const state = folder.engine.open();
  try {
    const { files, filesBefore } = folder;
    const view = snapshotView(state, state.ticks);
    const problems: string[] = [];
    let problemCount = 0;
    const complain = (problem: string): void => {
      problemCount += 1;
      if (problems.length < problemsKeptMax) problems.push(problem);
    };
    const audit = new ContentAudit({ view, files, filesBefore, report: complain });
    await audit.begin();
    const records = await new RecordCheck(view, audit, complain).run();
    const figures = await audit.finish();
    return { ...figures, records, problems, problemCount };
  } finally {
    state.close();
    await folder.close();
  }
}

/** Checks all records in one pass. */
class RecordCheck {
  readonly #view: View;
  readonly #audit: ContentAudit;
  readonly #complain: (problem: string) => void;
  readonly #ownership = new Ownership();
  readonly #followUps: DerivedEntries;
  readonly #records = new Map<string, number>();

  constructor(view: View, audit: ContentAudit, complain: (problem: string) => void) {
    this.#view = view;
    this.#audit = audit;
    this.#complain = complain;
    this.#followUps = new DerivedEntries(view, complain);
  }

  async run(): Promise<ReadonlyMap<string, number>> {
    for await (const entries of this.#view.range(reclaimJobs.range([]))) {
      for (const { value } of entries) this.#addJob(value);
    }
    const counters: Entry[] = [];
    for await (const entries of this.#view.range(wholeKeySpace)) {
      for (const entry of entries) {
        const tag = tagOf(entry.key);
        if (ownContentTags.has(tag) || uncheckedTags.has(tag)) continue;
        if (counterNames.has(tag)) counters.push(entry);
        else await this.#checkEntry(entry);
      }
    }
    for (const counter of counters) this.#checkCounter(counter);
    this.#followUps.finish((tag) => tablesByTag.get(tag)?.name ?? String(tag));
    for (const problem of this.#ownership.problems()) this.#complain(problem);
    return this.#records;
  }

  /** Notes a reclaim job for the check of ownership. A job that cannot be decoded is reported by
   *  `#checkEntry`. */
  #addJob(value: Value): void {
    try {
      this.#ownership.addJob(reclaimJobs.codec.decode(value));
    } catch {
      // The job is ignored here: its records do not count as being reclaimed.
    }
  }

  async #checkEntry({ key, value }: Entry): Promise<void> {
    const table = tablesByTag.get(tagOf(key));
    if (table === undefined) {
      return this.#complain(`record of unknown kind: ${Buffer.from(key).toString("hex")}`);
    }
    // A volatile key that was deleted: the empty value is its tombstone.
    if (table.tag === locks.tag && value.length === 0) return;
    this.#records.set(table.name, (this.#records.get(table.name) ?? 0) + 1);
    try {
      await this.#checkRecord(table, key, table.codec.decode(value));
    } catch (error) {
      this.#complain(`${nameOf(table, key)} cannot be read: ${messageOf(error)}`);
    }
  }

  async #checkRecord(table: AnyTable, key: Key, record: unknown): Promise<void> {
    if (typeof record !== "object" || record === null) throw new Error("not a record");
    const parts = decodeKey(key, 1);
    const name = (): string => nameOf(table, key);
    this.#ownership.add(table.tag, parts, record, name);
    const content =
      table.content === undefined
        ? undefined
        : (record as Record<string, ContentRef | undefined>)[table.content];
    if (content !== undefined) await this.#audit.addRecord(name(), key, content);
    else if (alwaysWithContent.has(table.tag)) this.#complain(`${name()} has no content`);
    const isTakenApart = this.#ownership.isBeingReclaimed(table.tag, parts);
    await this.#followUps.add(table, { parts, record, name, isBeingReclaimed: isTakenApart });
  }

  #checkCounter({ key, value }: Entry): void {
    const parts = decodeKey(key, 1);
    const wanted = this.#followUps.expectedCount(key);
    if (this.#ownership.hasReclaimJob(parts)) return;
    const name = `${counterNames.get(tagOf(key))} ${String(parts[0])}`;
    if (value.length !== counterBytes) return this.#complain(`${name} cannot be read`);
    const found = decodeCounter(value);
    if (found !== wanted) this.#complain(`${name}: counter is ${found}, expected ${wanted}`);
  }
}

function nameOf(table: AnyTable, key: Key): string {
  const parts = decodeKey(key, 1).map((part) =>
    part instanceof Uint8Array ? Buffer.from(part).toString("hex") : String(part),
  );
  return `${table.name} ${parts.join(" / ")}`;
}
