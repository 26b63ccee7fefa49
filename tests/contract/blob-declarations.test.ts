import { describe, expect, it } from "vitest";
import { operations } from "../../src/blob/operations.ts";
import {
  blobLeaseOperations,
  blobRows,
  containerLeaseOperations,
  containerRows,
} from "./blob-tables.ts";

const byName = (name: string) => operations.filter((operation) => operation.name === name);

describe.each([...containerRows, ...blobRows])("3 blob $operation", (row) => {
  const declared = byName(row.operation);
  it("is declared", () => {
    expect(declared).not.toHaveLength(0);
  });
  it.each(declared.map((operation) => [operation.ids.join(), operation] as const))(
    "%s matches the contract",
    (_ids, operation) => {
      expect(operation.etag !== "none").toBe(row.returnsETag);
      const accepts = ["read", "write", "create"].includes(operation.conditions);
      expect(accepts).toBe(row.conditions);
    },
  );
});

describe("3 blob leases", () => {
  it.each(blobLeaseOperations)("%s accepts a lease id", (name) => {
    const leases = byName(name).map(({ lease }) => lease);
    expect(leases).not.toEqual([]);
    expect(leases).not.toContain("none");
  });
  it.each(containerLeaseOperations)("%s accepts a lease id", (name) => {
    const leases = byName(name).map(({ lease }) => lease);
    expect(leases).not.toEqual([]);
    expect(leases).not.toContain("none");
  });
  it("only Delete Container requires the lease of the container", () => {
    const exclusive = operations.filter(
      ({ route, lease }) => route.resource === "container" && lease === "match-if-leased",
    );
    expect(new Set(exclusive.map(({ name }) => name))).toEqual(new Set(["Delete Container"]));
  });
  it("every operation that changes a blob's ETag requires its lease id", () => {
    const renewing = operations.filter(
      ({ route, etag }) => route.resource === "blob" && etag === "renew",
    );
    expect(renewing.length).toBeGreaterThan(10);
    const others = renewing.filter(({ lease }) => lease !== "match-if-leased");
    expect(others.map(({ name }) => name)).toEqual([]);
  });
});
