import * as blob from "../../blob/records.ts";
import { accounts } from "../../account/account-record.ts";
import type { ReclaimJob } from "../../operation/effects.ts";
import type { KeyPart } from "../../encoding/keys.ts";
import * as file from "../../file/records.ts";
import * as queue from "../../queue/records.ts";
import * as table from "../../table/records.ts";
import { ownedTables } from "./known-tables.ts";

/** Tables whose records define owner ids. A record keyed by an undefined id is unreachable. */
const ownerTables: ReadonlySet<number> = new Set(
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

/** Tables whose records may be directories of a hierarchical namespace. The id of a directory is an
 *  owner id, too: its entries are keyed by it. */
const directoryTables: ReadonlySet<number> = new Set([blob.blobs.tag, blob.generations.tag]);

/** Tables whose keys begin with an owner id. */
const ownedTags: ReadonlySet<number> = new Set(ownedTables.map(({ tag }) => tag));

/** Tables whose related entries a reclaim job deletes in different transactions. */
const reclaimedPiecewise: ReadonlySet<number> = new Set(
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

/** Reclaim jobs that delete everything keyed by an id; the value is the id's position in the job's
 *  scope. */
const idPositionByJobKind: Readonly<Record<string, number>> = {
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

/** Finds records without an owner, which would never be deleted. */
export class Ownership {
  /** Ids with a reclaim job; part of their records may be deleted already. */
  readonly #reclaimed = new Set<bigint>();
  readonly #defined = new Set<bigint>();
  /** Owner ids that occur in keys, each with the name of the first such record. */
  readonly #referenced = new Map<bigint, string>();

  addJob({ kind, scope }: ReclaimJob): void {
    const id = scope[idPositionByJobKind[kind] ?? scope.length];
    if (typeof id === "bigint") this.#reclaimed.add(id);
  }

  /** Whether a reclaim job is deleting the entries related to a record, which are then not
   *  checked. */
  isBeingReclaimed(tag: number, parts: readonly KeyPart[]): boolean {
    return reclaimedPiecewise.has(tag) && this.hasReclaimJob(parts);
  }

  /** Whether a reclaim job exists for the id at the start of a key. */
  hasReclaimJob([first]: readonly KeyPart[]): boolean {
    return typeof first === "bigint" && this.#reclaimed.has(first);
  }

  add(tag: number, parts: readonly KeyPart[], record: object, name: () => string): void {
    if (ownerTables.has(tag)) this.#defined.add((record as { readonly id: bigint }).id);
    const { directory } = record as blob.BlobRecord;
    if (directory !== undefined && directoryTables.has(tag)) this.#defined.add(directory);
    const [first] = parts;
    if (!ownedTags.has(tag) || typeof first !== "bigint" || this.#referenced.has(first)) return;
    this.#referenced.set(first, name());
  }

  problems(): readonly string[] {
    return [...this.#referenced]
      .filter(([id]) => !this.#defined.has(id) && !this.#reclaimed.has(id))
      .map(([id, name]) => `${name} belongs to ${id}, which does not exist`);
  }
}
