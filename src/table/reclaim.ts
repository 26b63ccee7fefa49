import type { ReclaimJob } from "../core/effects.ts";
import type { Reclaimer, Removal } from "../core/service.ts";
import { anyTable } from "../core/table.ts";
import { entities, tables } from "./records.ts";

/** Records removed in one transaction. */
const removalsMax = 500;

/** Everything keyed by a table's id, and then the record that keeps its name from being reused. */
const reclaimEntities: Reclaimer = async (view, [table, account, name]) => {
  const removals: Removal[] = [];
  const bounds = { ...entities.range([table as bigint]), limit: removalsMax };
  for await (const batch of view.scan(entities, bounds)) {
    for (const { key } of batch) removals.push({ table: anyTable(entities), key });
  }
  if (removals.length === removalsMax) return { removals, done: false };
  if (typeof name === "string") {
    const key = { account: account as bigint, name };
    const record = await view.get(tables, key);
    if (record?.id === table) removals.push({ table: anyTable(tables), key: tables.key(key) });
  }
  return { removals, done: true };
};

const reclaimAccount: Reclaimer = async (view, [account]) => {
  const removals: Removal[] = [];
  const jobs: ReclaimJob[] = [];
  const bounds = { ...tables.range([account as bigint]), limit: removalsMax };
  for await (const batch of view.scan(tables, bounds)) {
    for (const { key, record } of batch) {
      removals.push({ table: anyTable(tables), key });
      jobs.push({ kind: "table-entities", scope: [record.id] });
    }
  }
  return { removals, jobs, done: removals.length < removalsMax };
};

export const reclaimers: Readonly<Record<string, Reclaimer>> = {
  "table-account": reclaimAccount,
  "table-entities": reclaimEntities,
};
