import * as blob from "../../blob/records.ts";
import type { AnyTable, DefinedTable } from "../../encoding/table.ts";
import * as file from "../../file/records.ts";
import * as queue from "../../queue/records.ts";
import * as table from "../../table/records.ts";

/** A table whose records are part of an archive. The first part of every key is the id of an owner:
 *  an account, container, directory, upload, queue, table or share. */
export interface ArchivedTable {
  readonly table: AnyTable & Pick<DefinedTable<unknown, object>, "range" | "parts">;
  /** Fields with the id of an owner. A load replaces these ids, as it does in keys. */
  readonly ids: readonly string[];
  /** Names of the tables whose records are keyed by the ids in `ids`. Their records follow the one
   *  with the id, so that a reclaim job that begins at the account finds them, also after a load
   *  was interrupted. */
  readonly below: readonly string[];
  /** Whether records may have a lease, which is not archived. */
  readonly hasLease: boolean;
  /** The table with the present state of a record that is an earlier state, and how many parts of
   *  the key both have in common. Their contents are often the same. */
  readonly present?: { readonly table: AnyTable; readonly parts: number } | undefined;
}

type Rules = Partial<Omit<ArchivedTable, "table">>;

function archived<K, R extends object>(
  records: DefinedTable<K, R>,
  { ids = [], below = [], hasLease = false, present }: Rules = {},
): ArchivedTable {
  return { table: records as unknown as ArchivedTable["table"], ids, below, hasLease, present };
}

function named(tables: readonly { readonly name: string }[]): readonly string[] {
  return tables.map(({ name }) => name);
}

const inContainer = named([blob.blobs, blob.generations, blob.uploads]);
const inShare = named([
  file.permissions,
  file.nodes,
  file.nodeLocations,
  file.versions,
  file.versionEnds,
  file.shareSnapshots,
]);
const inQueue = named([queue.messages, queue.visibilityIndex, queue.expiries]);
const container: Rules = { ids: ["id"], below: inContainer, hasLease: true };
const blobRules: Rules = { ids: ["directory"], below: inContainer, hasLease: true };
const share: Rules = { ids: ["id"], below: inShare, hasLease: true };
const presentBlob = { table: blob.blobs as unknown as AnyTable, parts: 2 };
const presentNode = { table: file.nodes as unknown as AnyTable, parts: 3 };

/** The tables whose keys begin with the id of the account. */
const belowAccount: readonly ArchivedTable[] = [
  archived(blob.containers, container),
  archived(blob.deletedContainers, container),
  archived(queue.queues, { ids: ["id"], below: inQueue }),
  archived(table.tables, { ids: ["id"], below: named([table.entities]) }),
  archived(file.shares, share),
  archived(file.deletedShares, share),
];

/** Index entries that `operation/apply.ts` derives are not archived: a load derives them again. */
const all: readonly ArchivedTable[] = [
  ...belowAccount,
  archived(blob.blobs, blobRules),
  archived(blob.generations, { ...blobRules, present: presentBlob }),
  archived(blob.uploads, { ids: ["id"], below: named([blob.blocks]) }),
  archived(blob.blocks),
  archived(queue.messages),
  archived(queue.visibilityIndex),
  archived(queue.expiries),
  archived(table.entities),
  archived(file.permissions),
  archived(file.nodes, { hasLease: true }),
  archived(file.nodeLocations),
  archived(file.versions, { hasLease: true, present: presentNode }),
  archived(file.versionEnds),
  archived(file.shareSnapshots, { ids: ["id"], hasLease: true }),
];

const byName = new Map(all.map((each) => [each.table.name, each]));

/** Tables directly below an account. */
export const accountTables: readonly ArchivedTable[] = belowAccount;

/** Undefined for a table that no archive contains. */
export function archivedTable(name: string): ArchivedTable | undefined {
  return byName.get(name);
}

export const archivedTableNames: readonly string[] = [...byName.keys()];
