import { expect, it } from "vitest";
import { operations } from "../../src/blob/operations.ts";
import { blobCatalogue } from "./blob-catalogue.ts";

/** Requests that the server answers outside declared operations, and those it does not support. */
const others: Readonly<Record<string, string>> = {
  "Preflight Blob Request": "answered for every service alike",
  "Get User Delegation Key": "answered where bearer tokens are let in",
};

const declared = new Map<string, Set<string>>();
for (const { name, ids } of operations) {
  const known = declared.get(name) ?? new Set<string>();
  for (const id of ids) known.add(id);
  declared.set(name, known);
}

it.each(Object.entries(blobCatalogue))("%s is declared with all its ids", (name, ids) => {
  if (others[name] !== undefined && !declared.has(name)) return;
  expect([...(declared.get(name) ?? [])].toSorted()).toEqual(ids.toSorted());
});

it("no operation is declared that the catalogue lacks", () => {
  const unknown = [...declared.keys()].filter((name) => blobCatalogue[name] === undefined);
  expect(unknown).toEqual([]);
});

it("no id belongs to two operations", () => {
  const ids = operations.flatMap((operation) => operation.ids);
  expect(ids.toSorted()).toEqual([...new Set(ids)].toSorted());
});
