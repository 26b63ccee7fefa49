import { describe, expect, it } from "vitest";
import { operations } from "../../src/table/operations.ts";

/** The table of section 4 of the contract. */
const rows = [
  { operation: "Query Entities", returnsETag: true, requiresIfMatch: false },
  { operation: "Insert Entity", returnsETag: true, requiresIfMatch: false },
  { operation: "Update Entity", returnsETag: true, requiresIfMatch: true },
  { operation: "Merge Entity", returnsETag: true, requiresIfMatch: true },
  { operation: "Delete Entity", returnsETag: false, requiresIfMatch: true },
  { operation: "Insert Or Replace Entity", returnsETag: true, requiresIfMatch: false },
  { operation: "Insert Or Merge Entity", returnsETag: true, requiresIfMatch: false },
] as const;

/**
 * A query returns the ETags of many entities in its body; only a single entity has an ETag header.
 */
const ofOneEntity = operations.filter(
  ({ route, ids }) =>
    (route.resource === "entity" || route.resource === "entities") &&
    !ids.includes("Table_QueryEntities"),
);

describe.each(rows)("4 table $operation", ({ operation, returnsETag, requiresIfMatch }) => {
  const declared = ofOneEntity.filter(({ name }) => name === operation);
  it("is declared once", () => {
    expect(declared).toHaveLength(1);
  });
  it("matches the contract", () => {
    for (const { etag, conditions, conditionFaults } of declared) {
      expect(etag !== "none").toBe(returnsETag);
      expect(conditions === "match").toBe(requiresIfMatch);
      expect(conditionFaults?.any).toBe(
        requiresIfMatch ? "UpdateConditionNotSatisfied" : undefined,
      );
    }
  });
});

describe("4 table", () => {
  it("replace and merge differ from their upserts by If-Match alone", () => {
    for (const method of ["PUT", "MERGE", "PATCH"]) {
      const same = ofOneEntity.filter(({ route }) =>
        [route.method].flat().includes(method as never),
      );
      expect(same.map(({ route }) => route.headers?.["if-match"])).toEqual([true, false]);
    }
  });

  it("every operation that renews an ETag runs in a transaction", () => {
    const renewing = operations.filter(({ etag }) => etag === "renew");
    expect(renewing.length).toBeGreaterThan(4);
    const others = renewing.filter(({ effect }) => effect !== "writes");
    expect(others.map(({ name }) => name)).toEqual([]);
  });

  it("has every operation of the published interface", () => {
    expect([...new Set(operations.map(({ name }) => name))].toSorted()).toEqual(
      [
        "Create Table",
        "Delete Entity",
        "Delete Table",
        "Entity Group Transaction",
        "Get Table ACL",
        "Get Table Service Properties",
        "Get Table Service Stats",
        "Get User Delegation Key",
        "Insert Entity",
        "Insert Or Merge Entity",
        "Insert Or Replace Entity",
        "Merge Entity",
        "Preflight Table Request",
        "Query Entities",
        "Query Tables",
        "Set Table ACL",
        "Set Table Service Properties",
        "Update Entity",
      ].toSorted(),
    );
  });

  it("has every id of the published interface", () => {
    const ids = new Set(operations.flatMap((operation) => operation.ids));
    for (const id of [
      "Table_Query",
      "Table_Create",
      "Table_Delete",
      "Table_QueryEntities",
      "Table_QueryEntityWithPartitionAndRowKey",
      "Table_UpdateEntity",
      "Table_MergeEntity",
      "Table_DeleteEntity",
      "Table_InsertEntity",
      "Table_GetAccessPolicy",
      "Table_SetAccessPolicy",
      "Service_SetProperties",
      "Service_GetProperties",
      "Service_GetStatistics",
      "Preflight",
      "Service_GetUserDelegationKey",
      "Table_Batch",
      "Table_InsertOrReplaceEntity",
      "Table_InsertOrMergeEntity",
    ]) {
      expect(ids, id).toContain(id);
    }
  });
});
