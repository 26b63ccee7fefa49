import type { EntityKeys } from "../../protocol/entity-range.ts";
import { missingHeader } from "../../protocol/faults.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import type { Ticks } from "../../base/ticks.ts";
import type { Property } from "../edm/edm.ts";
import { checkEntity, checkKey } from "../edm/limits.ts";
import { odataHeaders } from "../odata-headers.ts";
import { keysOf } from "../resources.ts";
import type { TableAddress } from "../path.ts";
import { entityRecord, type EntityRecord } from "../stored/entity-record.ts";
import type { EntityInput } from "./entity-input.ts";

interface Change {
  readonly address: TableAddress;
  readonly target: EntityRecord | undefined;
  readonly newETag: Ticks;
  readonly input: { readonly body: EntityInput };
}

interface Changed {
  readonly put: EntityRecord;
  readonly headers: typeof odataHeaders;
}

/** The entity becomes what the body says. */
export function replaceWith({ address, newETag, input }: Change): Changed | Failure {
  return settle(keysOf(address), input.body, newETag, input.body.properties);
}

/** What the body names is set, everything else stays. */
export function mergeInto({ address, target, newETag, input }: Change): Changed | Failure {
  const merged = new Map<string, Property>();
  for (const property of target?.properties ?? []) merged.set(property[0], property);
  for (const property of input.body.properties) merged.set(property[0], property);
  return settle(keysOf(address), input.body, newETag, [...merged.values()]);
}

/** Recorded: after an update properties come back in the order of their names. */
function settle(
  keys: EntityKeys,
  body: EntityInput,
  newETag: Ticks,
  properties: readonly Property[],
): Changed | Failure {
  const checked = checkKeys(keys, body);
  if (!checked.ok) return checked;
  const fits = checkEntity(keys, properties);
  if (!fits.ok) return fits;
  const sorted = properties.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { put: entityRecord(newETag, sorted), headers: odataHeaders };
}

/** A body may repeat the keys of the address, not change them. */
function checkKeys(keys: EntityKeys, body: EntityInput): Result<undefined> {
  if ((body.partitionKey ?? keys.partitionKey) !== keys.partitionKey) return fail("InvalidInput");
  if ((body.rowKey ?? keys.rowKey) !== keys.rowKey) return fail("InvalidInput");
  const partition = checkKey("PartitionKey", keys.partitionKey);
  return partition.ok ? checkKey("RowKey", keys.rowKey) : partition;
}

const upsertsSince = "2011-08-18";

/** Before there were upserts, a write without an ETag was a mistake. */
export function checkUpsert(version: string): Result<undefined> {
  return version < upsertsSince ? missingHeader("If-Match") : ok(undefined);
}
