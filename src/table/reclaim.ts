import { nameReclaimers } from "../account/deleted-names.ts";
import type { ReclaimHandler } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import { removalFinder } from "../operation/find-removals.ts";
import { entities, tables } from "./records.ts";

/** Most records removed in one transaction. */
const removalsMax = 500;

const findRemovals = removalFinder(removalsMax);

/** Removes all entities of a deleted table. Jobs of earlier releases also name the table's record,
 *  which is then removed with the last entities. */
const reclaimEntities: ReclaimHandler = async (view, [table, account, name]) => {
  const found = await findRemovals(view, entities, table as bigint);
  if (found.length === removalsMax) return { removals: found, done: false };
  if (typeof name !== "string") return { removals: found, done: true };
  const key = { account: account as bigint, name };
  const record = await view.get(tables, key);
  const named = { table: anyTable(tables), key: tables.key(key) };
  return { removals: record?.id === table ? [...found, named] : found, done: true };
};

const reclaimAccount: ReclaimHandler = async (view, [account]) => {
  const removals = await findRemovals(view, tables, account as bigint);
  const jobs = removals.map(({ record }) => ({ kind: "table-entities", scope: [record.id] }));
  return { removals, jobs, done: removals.length < removalsMax };
};

export const reclaimers: Readonly<Record<string, ReclaimHandler>> = {
  ...nameReclaimers("table"),
  "table-account": reclaimAccount,
  "table-entities": reclaimEntities,
};
