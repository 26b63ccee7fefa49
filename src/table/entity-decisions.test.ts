import { describe, expect, it } from "vitest";
import { ticksPerSecond } from "../base/ticks.ts";
import type { Operation } from "../operation/operation.ts";
import { decideOn, testNow } from "../../tests/harness/decisions.ts";
import { dialect } from "./dialect.ts";
import { edm, type Property } from "./edm/edm.ts";
import {
  deleteEntity,
  insertEntity,
  insertOrMergeEntity,
  insertOrReplaceEntity,
  mergeEntity,
  updateEntity,
} from "./entity/change-entity.ts";
import { formatEntityETag } from "./key-text.ts";
import { resources } from "./resources.ts";
import { entityRecord, type EntityRecord } from "./stored/entity-record.ts";

const keys = { partitionKey: "p", rowKey: "r" };
const etag = testNow - 100n * ticksPerSecond;
const table = { id: 7n, name: "people", policies: [] };
const scope = { account: { id: 1n, properties: {} }, table };

const text = (name: string, value: string): Property => [name, edm.string, value];
const stored = entityRecord(etag, [text("a", "stored"), text("b", "stored")]);
const sent = [text("c", "sent"), text("b", "sent")];

const current = { "if-match": formatEntityETag(etag) };
const outdated = { "if-match": formatEntityETag(etag - 1n) };
const anyETag = { "if-match": "*" };

interface Row {
  readonly operation: Operation;
  readonly entity: "absent" | "stored";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { partitionKey?: string; rowKey?: string; properties?: readonly Property[] };
  readonly version?: string;
  /** The code of the fault, `removed`, or the properties after the operation. */
  readonly expected: string | Readonly<Record<string, string>>;
}

const replaced = { b: "sent", c: "sent" };
const merged = { a: "stored", b: "sent", c: "sent" };

/** learn.microsoft.com/rest/api/storageservices/operations-on-entities: each operation on an entity
 *  that exists and on one that does not, with each kind of If-Match. */
const effects: readonly Row[] = [
  { operation: insertEntity, entity: "absent", expected: replaced },
  { operation: insertEntity, entity: "stored", expected: "EntityAlreadyExists" },
  { operation: updateEntity, entity: "absent", headers: anyETag, expected: "ResourceNotFound" },
  { operation: updateEntity, entity: "stored", headers: anyETag, expected: replaced },
  { operation: updateEntity, entity: "stored", headers: current, expected: replaced },
  {
    operation: updateEntity,
    entity: "stored",
    headers: outdated,
    expected: "UpdateConditionNotSatisfied",
  },
  { operation: mergeEntity, entity: "absent", headers: anyETag, expected: "ResourceNotFound" },
  { operation: mergeEntity, entity: "stored", headers: anyETag, expected: merged },
  { operation: mergeEntity, entity: "stored", headers: current, expected: merged },
  {
    operation: mergeEntity,
    entity: "stored",
    headers: outdated,
    expected: "UpdateConditionNotSatisfied",
  },
  { operation: insertOrReplaceEntity, entity: "absent", expected: replaced },
  { operation: insertOrReplaceEntity, entity: "stored", expected: replaced },
  { operation: insertOrMergeEntity, entity: "absent", expected: replaced },
  { operation: insertOrMergeEntity, entity: "stored", expected: merged },
  { operation: deleteEntity, entity: "absent", headers: anyETag, expected: "ResourceNotFound" },
  { operation: deleteEntity, entity: "stored", headers: anyETag, expected: "removed" },
  { operation: deleteEntity, entity: "stored", headers: current, expected: "removed" },
  {
    operation: deleteEntity,
    entity: "stored",
    headers: outdated,
    expected: "UpdateConditionNotSatisfied",
  },
];

/** Requests that are wrong whatever is stored. */
const faults: readonly (Row & { readonly case: string })[] = [
  {
    case: "no If-Match",
    operation: deleteEntity,
    entity: "stored",
    expected: "MissingRequiredHeader",
  },
  {
    case: "If-Match that is no ETag",
    operation: updateEntity,
    entity: "stored",
    headers: { "if-match": "0x1" },
    expected: "InvalidInput",
  },
  {
    case: "a weak ETag in another form, which matches nothing",
    operation: updateEntity,
    entity: "stored",
    headers: { "if-match": 'W/"0x1"' },
    expected: "UpdateConditionNotSatisfied",
  },
  {
    case: "a body with another PartitionKey than the URL",
    operation: mergeEntity,
    entity: "stored",
    headers: anyETag,
    body: { partitionKey: "other" },
    expected: "InvalidInput",
  },
  {
    case: "a body with another RowKey than the URL",
    operation: insertOrReplaceEntity,
    entity: "absent",
    body: { rowKey: "other" },
    expected: "InvalidInput",
  },
  {
    case: "an upsert before version 2011-08-18",
    operation: insertOrMergeEntity,
    entity: "stored",
    version: "2009-09-19",
    expected: "MissingRequiredHeader",
  },
  {
    case: "more than 1 MiB in one entity",
    operation: insertEntity,
    entity: "absent",
    body: {
      properties: Array.from({ length: 17 }, (_, at) => text(`p${at}`, "x".repeat(32_000))),
    },
    expected: "EntityTooLarge",
  },
  {
    case: "a merge that makes the entity larger than 1 MiB",
    operation: mergeEntity,
    entity: "stored",
    headers: anyETag,
    body: {
      properties: Array.from({ length: 17 }, (_, at) => text(`p${at}`, "x".repeat(32_000))),
    },
    expected: "EntityTooLarge",
  },
];

function resultOf({ operation, entity, headers = {}, body = {}, version }: Row) {
  const target = entity === "stored" ? stored : undefined;
  const address = { resource: "entity", table: table.name, keys };
  const reply = decideOn(
    operation,
    { resource: resources.entity, scope, address, target, dialect },
    {
      headers,
      body: { partitionKey: undefined, rowKey: undefined, properties: sent, ...body },
      ...(version !== undefined && { version }),
    },
  );
  if (typeof reply === "string") return reply;
  if (reply.remove === true) return "removed";
  const record = reply.put as EntityRecord;
  expect(record.etag).toBeGreaterThan(etag);
  return Object.fromEntries(record.properties.map(([name, , value]) => [name, value]));
}

describe("operations on entities", () => {
  it.each(effects)("$operation.name, entity $entity, $headers", (row) => {
    expect(resultOf(row)).toEqual(row.expected);
  });

  it.each(faults)("$operation.name rejects $case", (row) => {
    expect(resultOf(row)).toBe(row.expected);
  });

  it("requires keys for an insertion", () => {
    const address = { resource: "entities", table: table.name, keys: undefined };
    const state = { resource: resources.entity, scope, address, dialect };
    const body = { partitionKey: undefined, rowKey: "r", properties: [] };
    expect(decideOn(insertEntity, state, { body })).toBe("PropertiesNeedValue");
  });
});
