import { heldLeases } from "../../account/held-leases.ts";
import { blocks } from "../../blob/records.ts";
import { blockCounter } from "../../blob/block/read-blocks.ts";
import {
  allTags,
  containerNames,
  containerTags,
  directoryNames,
  holds,
} from "../../blob/indexes.ts";
import type { KeyPart } from "../../encoding/keys.ts";
import type { AnyTable, IndexEntry } from "../../encoding/table.ts";
import { ticksMax, type Ticks } from "../../base/ticks.ts";
import * as file from "../../file/records.ts";
import { messageIdOfBytes } from "../../queue/message/message-id.ts";
import * as queue from "../../queue/records.ts";
import type { View } from "../../store/store.ts";
import { tagOf } from "./known-tables.ts";

/** An entry that a record requires. `value` is set if the entry must have exactly this value. */
type ExpectedEntry = Pick<IndexEntry, "key"> & Partial<IndexEntry>;

/** Tables whose entries are all derived from other records. */
const derivedTables: ReadonlySet<number> = new Set(
  [
    heldLeases,
    allTags,
    containerNames,
    containerTags,
    directoryNames,
    holds,
    queue.visibilityIndex,
    queue.expiries,
    file.nodeLocations,
    file.shareNames,
    file.versionEnds,
  ].map(({ tag }) => tag),
);

export interface CheckedRecord {
  readonly parts: readonly KeyPart[];
  readonly record: object;
  readonly name: () => string;
  readonly isBeingReclaimed: boolean;
}

/** Checks what records imply: index entries, visibility entries, node locations and counters. */
export class DerivedEntries {
  readonly #view: View;
  readonly #complain: (problem: string) => void;
  readonly #wanted = new Map<number, number>();
  readonly #found = new Map<number, number>();
  /** Expected value of each counter, by its key in hexadecimal. */
  readonly #counts = new Map<string, bigint>();

  constructor(view: View, complain: (problem: string) => void) {
    this.#view = view;
    this.#complain = complain;
  }

  /** Adds a record. If it is being reclaimed, only its index entries are checked: a reclaim job
   *  deletes them with the record, but other derived entries and counters in later transactions. */
  async add(
    table: AnyTable,
    { parts, record, name, isBeingReclaimed: isTakenApart }: CheckedRecord,
  ): Promise<void> {
    const { tag } = table;
    const indexes = table.indexes?.(record, () => parts) ?? [];
    const links = isTakenApart ? [] : derivedEntriesOf(tag, parts, record);
    if (!isTakenApart) {
      if (derivedTables.has(tag)) this.#found.set(tag, (this.#found.get(tag) ?? 0) + 1);
      this.#count(tag, parts, record);
    }
    for (const wanted of [...indexes, ...links]) {
      const wantedTag = tagOf(wanted.key);
      this.#wanted.set(wantedTag, (this.#wanted.get(wantedTag) ?? 0) + 1);
      const value = await this.#view.get(wanted.key);
      if (value === undefined)
        this.#complain(`${name()}: an entry of table ${wantedTag} is missing`);
      else if (wanted.value !== undefined && Buffer.compare(value, wanted.value) !== 0) {
        this.#complain(`${name()}: an entry of table ${wantedTag} has a wrong value`);
      }
    }
  }

  /** Returns and removes the expected value of a counter; counters at 0 need not exist. */
  expectedCount(counter: Uint8Array): bigint {
    const text = Buffer.from(counter).toString("hex");
    const count = this.#counts.get(text) ?? 0n;
    this.#counts.delete(text);
    return count;
  }

  /** After all records: reports derived entries without a record, and missing counters. */
  finish(nameOf: (tag: number) => string): void {
    for (const [tag, found] of this.#found) {
      const wanted = this.#wanted.get(tag) ?? 0;
      if (found > wanted)
        this.#complain(`${nameOf(tag)}: ${found - wanted} entries without a record`);
    }
    for (const [counter, count] of this.#counts) {
      if (count !== 0n) this.#complain(`counter ${counter} is missing, expected ${count}`);
    }
  }

  #count(tag: number, [first]: readonly KeyPart[], record: object): void {
    if (tag === queue.messages.tag) this.#addTo(queue.messageCounter(first as bigint), 1n);
    if (tag === blocks.tag) this.#addTo(blockCounter(first as bigint), 1n);
    if (tag !== file.nodes.tag) return;
    const { allocated = 0 } = record as file.NodeRecord;
    if (allocated > 0) this.#addTo(file.usageCounter(first as bigint), BigInt(allocated));
  }

  #addTo(counter: Uint8Array, count: bigint): void {
    const text = Buffer.from(counter).toString("hex");
    this.#counts.set(text, (this.#counts.get(text) ?? 0n) + count);
  }
}

function derivedEntriesOf(
  tag: number,
  parts: readonly KeyPart[],
  record: object,
): readonly ExpectedEntry[] {
  const [first] = parts as [bigint];
  if (tag === queue.messages.tag) {
    return visibilityEntriesOf(first, parts[1] as Uint8Array, record as queue.MessageRecord);
  }
  if (tag === file.nodes.tag) return locationEntryOf(first, parts, record as file.NodeRecord);
  if (tag === file.versions.tag) {
    const [share, parent, folded, since] = parts as [bigint, bigint, string, number];
    const { until } = record as file.VersionRecord;
    return [{ key: file.versionEnds.key({ share, parent, folded, since, until }) }];
  }
  return [];
}

function visibilityEntriesOf(
  id: bigint,
  bytes: Uint8Array,
  message: queue.MessageRecord,
): readonly ExpectedEntry[] {
  const key = { queue: id, id: messageIdOfBytes(bytes) };
  const { visibleAt, expires } = message;
  const visibility = { key: queue.visibilityIndex.key({ ...key, visibleAt }) };
  return expires === (ticksMax as Ticks)
    ? [visibility]
    : [visibility, { key: queue.expiries.key({ ...key, expires }) }];
}

/** The root directory and hard links have no location entry. */
function locationEntryOf(
  share: bigint,
  [, parent, folded]: readonly KeyPart[],
  { id, linkTo }: file.NodeRecord,
): readonly ExpectedEntry[] {
  if (linkTo !== undefined || id === file.rootId) return [];
  const value = file.nodeLocations.codec.encode({
    parent: parent as bigint,
    folded: folded as string,
  });
  return [{ key: file.nodeLocations.key({ share, id }), value }];
}
