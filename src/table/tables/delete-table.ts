import { timeout } from "../../core/common-params.ts";
import { reclaim, remove } from "../../core/effects.ts";
import { noBody } from "../../core/operation.ts";
import type { RecordView } from "../../core/view.ts";
import { odataHeaderNames, odataHeaders } from "../odata-headers.ts";
import { entities, type EntityKey } from "../records.ts";
import { representation } from "../representation.ts";
import { operation } from "../resources.ts";
import { KeyReader } from "../query/key-reader.ts";

/** A table with no more entities than this goes at once, and its name is free again. */
const entitiesAtOnceMax = 100;

/** Gone for everyone at once; what a large one held is taken down later, and its name is taken
 *  until then. learn.microsoft.com/rest/api/storageservices/delete-table */
export const deleteTable = operation({
  name: "Delete Table",
  ids: ["Table_Delete"],
  route: { method: "DELETE", resource: "table" },
  since: "2009-09-19",
  params: { representation, timeout },
  body: noBody,
  permission: { letters: "d", resourceType: "c", sas: "account-only" },
  target: "must-exist",
  conditions: "none",
  lease: "none",
  etag: "none",
  effect: "writes",
  success: { status: 204, headers: odataHeaderNames },
  reads: (view, { target }) => firstEntities(view, target.id),
  decide: ({ target, seen, scope }) => {
    if (seen.length <= entitiesAtOnceMax) {
      const effects = seen.map((key) => remove(entities, key));
      return { remove: true, effects, headers: odataHeaders };
    }
    const job = reclaim("table-entities", target.id, scope.account.id, target.name);
    const put = { ...target, isBeingDeleted: true as const };
    return { put, effects: [job], headers: odataHeaders };
  },
});

async function firstEntities(view: RecordView, table: bigint): Promise<readonly EntityKey[]> {
  const keys: EntityKey[] = [];
  const reader = new KeyReader(table);
  const bounds = { ...entities.range([table]), limit: entitiesAtOnceMax + 1 };
  for await (const batch of view.scan(entities, bounds)) {
    for (const { key } of batch) keys.push({ table, ...reader.read(key) });
  }
  return keys;
}
