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

interface ChangeContext {
  readonly address: TableAddress;
  readonly target: EntityRecord | undefined;
  readonly newETag: Ticks;
  readonly input: { readonly body: EntityInput };
}

/** The reply of an operation that changes an entity. */
interface ChangeReply {
  readonly put: EntityRecord;
  readonly headers: typeof odataHeaders;
}

/** Replaces all properties by those of the body. */
export function replaceProperties({
  address,
  newETag,
  input,
}: ChangeContext): ChangeReply | Failure {
  return changeReply(keysOf(address), input.body, newETag, input.body.properties);
}

/** Sets the properties of the body and keeps the others. */
export function mergeProperties({
  address,
  target,
  newETag,
  input,
}: ChangeContext): ChangeReply | Failure {
  const merged = new Map<string, Property>();
  for (const property of target?.properties ?? []) merged.set(property[0], property);
  for (const property of input.body.properties) merged.set(property[0], property);
  return changeReply(keysOf(address), input.body, newETag, [...merged.values()]);
}

/** Sorts the properties by name: after an update the service returns them in that order
 *  (recorded). */
function changeReply(
  keys: EntityKeys,
  body: EntityInput,
  newETag: Ticks,
  properties: readonly Property[],
): ChangeReply | Failure {
  const checked = checkKeys(keys, body);
  if (!checked.ok) return checked;
  const fits = checkEntity(keys, properties);
  if (!fits.ok) return fits;
  const sorted = properties.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return { put: entityRecord(newETag, sorted), headers: odataHeaders };
}

/** The body may repeat the keys of the address but not change them. */
function checkKeys(keys: EntityKeys, body: EntityInput): Result<undefined> {
  if ((body.partitionKey ?? keys.partitionKey) !== keys.partitionKey) return fail("InvalidInput");
  if ((body.rowKey ?? keys.rowKey) !== keys.rowKey) return fail("InvalidInput");
  const partition = checkKey("PartitionKey", keys.partitionKey);
  return partition.ok ? checkKey("RowKey", keys.rowKey) : partition;
}

const upsertVersionMin = "2011-08-18";

/** Update and Merge Entity without If-Match fail in versions that do not have Insert Or Replace
 *  Entity and Insert Or Merge Entity. */
export function checkUpsert(version: string): Result<undefined> {
  return version < upsertVersionMin ? missingHeader("If-Match") : ok(undefined);
}
