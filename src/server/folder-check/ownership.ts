import * as blob from "../../blob/records.ts";
import { accounts } from "../../account/account-record.ts";
import type { ReclaimJob } from "../../operation/effects.ts";
import type { KeyPart } from "../../encoding/keys.ts";
import * as file from "../../file/records.ts";
import * as queue from "../../queue/records.ts";
import * as table from "../../table/records.ts";
import { ownedTables } from "./known-tables.ts";

/** Which ids a record brings into being: what is keyed by any other is out of everyone's reach. */
const makers: ReadonlySet<number> = new Set(
  [
    accounts,
    blob.containers,
    blob.deletedContainers,
    blob.uploads,
    table.tables,
    queue.queues,
    queue.deletedQueues,
    file.shares,
    file.deletedShares,
  ].map(({ tag }) => tag),
);

/** Tables whose records may be directories, which have an id. */
const directoryTables: ReadonlySet<number> = new Set([blob.blobs.tag, blob.generations.tag]);

/** Tables whose keys begin with the id of what they belong to. */
const belonging: ReadonlySet<number> = new Set(ownedTables.map(({ tag }) => tag));

/** Of these, and of counters, parts that belong together go in different transactions. */
const takenApart: ReadonlySet<number> = new Set(
  [
    blob.blocks,
    queue.messages,
    queue.visibilityIndex,
    queue.expiries,
    file.nodes,
    file.nodeLocations,
    file.versions,
    file.versionEnds,
  ].map(({ tag }) => tag),
);

/** Jobs that take down all that is keyed by an id, and where in their scope the id stands. */
const takingDown: Readonly<Record<string, number>> = {
  "blob-account": 0,
  "blob-blocks": 0,
  "blob-container": 0,
  "blob-directory": 0,
  "file-account": 0,
  "file-share": 0,
  "queue-account": 0,
  "queue-deleted": 2,
  "queue-messages": 0,
  "table-account": 0,
  "table-entities": 0,
};

/** Finds records that belong to nothing, and so would never be removed. */
export class Ownership {
  /** What is about to go, half of it perhaps gone already. */
  readonly #going = new Set<bigint>();
  readonly #made = new Set<bigint>();
  /** By id: the first record that belongs to it. */
  readonly #needed = new Map<bigint, string>();

  addJob({ kind, scope }: ReclaimJob): void {
    const id = scope[takingDown[kind] ?? scope.length];
    if (typeof id === "bigint") this.#going.add(id);
  }

  /** Whether the record is one of those that go piece by piece, so that they need not agree. */
  isTakenApart(tag: number, parts: readonly KeyPart[]): boolean {
    return takenApart.has(tag) && this.isGoing(parts);
  }

  /** Whether what the id at the front stands for is being taken down. */
  isGoing([first]: readonly KeyPart[]): boolean {
    return typeof first === "bigint" && this.#going.has(first);
  }

  add(tag: number, parts: readonly KeyPart[], record: object, name: () => string): void {
    if (makers.has(tag)) this.#made.add((record as { readonly id: bigint }).id);
    const { directory } = record as blob.BlobRecord;
    if (directory !== undefined && directoryTables.has(tag)) this.#made.add(directory);
    const [first] = parts;
    if (!belonging.has(tag) || typeof first !== "bigint" || this.#needed.has(first)) return;
    this.#needed.set(first, name());
  }

  problems(): readonly string[] {
    return [...this.#needed]
      .filter(([id]) => !this.#made.has(id) && !this.#going.has(id))
      .map(([id, name]) => `${name} belongs to ${id}, which does not exist`);
  }
}
