import { anyTable } from "../encoding/table.ts";
import { removeOwned } from "../operation/owned-records.ts";
import type { ReclaimHandler, Service } from "../operation/service.ts";
import { entities, tables, tableTables } from "./records.ts";
import { dialect } from "./dialect.ts";
import { operations } from "./operations.ts";
import { identify, type TableAddress } from "./path.ts";
import { resources, signedName } from "./resources.ts";

/** The Table service as `data` registers it, with its reclaim job: the stored job that removes the
 *  entities of a deleted table. */

const removeEntities = removeOwned([anyTable(entities)]);

/** Removes all entities of a deleted table, in steps. Jobs that earlier releases have stored also
 *  name the record of the table, which is removed with the last entities. */
const reclaimEntities: ReclaimHandler = async (view, [table, account, name]) => {
  const step = await removeEntities(view, [table as bigint]);
  if (!step.done || typeof name !== "string") return step;
  const key = { account: account as bigint, name };
  const record = await view.get(tables, key);
  if (record?.id !== table) return step;
  const named = { table: anyTable(tables), key: tables.key(key) };
  return { ...step, removals: [...(step.removals ?? []), named] };
};

/** Handlers by the kind of job; `operation/reclaim.ts` runs the jobs in the background. */
const reclaimers: Readonly<Record<string, ReclaimHandler>> = {
  "table-entities": reclaimEntities,
};

export const tableService: Service = {
  name: "table",
  identify,
  signedName: (address) => signedName(address as TableAddress),
  resources,
  operations,
  tables: tableTables,
  dialect,
  reclaimers,
};
