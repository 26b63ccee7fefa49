import { reserveName } from "../../account/deleted-names.ts";
import { timeout } from "../../operation/common-params.ts";
import { reclaimOwned, remove } from "../../operation/effects.ts";
import { noBody, noETag } from "../../operation/operation.ts";
import type { RecordView } from "../../operation/view.ts";
import { odataHeaderNames, odataHeaders } from "../odata-headers.ts";
import { entities, nameKeyOf, type EntityKey } from "../records.ts";
import { representation } from "../representation.ts";
import { operation } from "../resources.ts";
import { KeyReader } from "../query/key-reader.ts";

/** Up to this number the entities are removed in the same transaction, otherwise by a job. */
const entitiesAtOnceMax = 100;

/** The name can be used again at once, unless the account sets `deletedNameSeconds`: entities are
 *  keyed by the id of their table, so a new table never shows those that a job has yet to remove.
 *  learn.microsoft.com/rest/api/storageservices/delete-table */
export const deleteTable = operation({
  name: "Delete Table",
  ids: ["Table_Delete"],
  route: { method: "DELETE", resource: "table" },
  since: "2009-09-19",
  params: { representation, timeout },
  body: noBody,
  permission: { letters: "d", resourceType: "c", sas: "account-only" },
  target: "must-exist",
  ...noETag,
  effect: "writes",
  isDeletion: true,
  success: { status: 204, headers: odataHeaderNames },
  reads: (view, { target }) => firstEntities(view, target.id),
  decide: ({ target, readResult, scope, features, now }) => {
    const isSmall = readResult.length <= entitiesAtOnceMax;
    const removals = isSmall
      ? readResult.map((key) => remove(entities, key))
      : [reclaimOwned("table", target.id)];
    const key = nameKeyOf(scope.account.id, target.name);
    const effects = [...removals, ...reserveName(features, key, now)];
    return { remove: true, effects, headers: odataHeaders };
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
