import { expect, it } from "vitest";
import { services } from "../../src/data/services.ts";

const operations = services.flatMap((service) => service.operations);

it("every DELETE operation may use the space that is reserved for a full disk", () => {
  const deletions = operations.filter(({ route }) => route.method === "DELETE");
  const undeclared = deletions.filter(
    (one) => one.isDeletion !== true && one.mayUseReserve !== true,
  );
  expect(deletions.length).toBeGreaterThan(10);
  expect(undeclared.map(({ name }) => name)).toEqual([]);
});
