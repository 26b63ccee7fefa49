import { expect, it } from "vitest";
import { queueService } from "../queue/service.ts";
import { simService } from "../../tests/harness/sim-service.ts";

async function requestIdsOf(seed: number): Promise<readonly (string | undefined)[]> {
  const service = await simService(queueService, { seed });
  const replies = [];
  for (const name of ["one", "two"]) {
    replies.push(await service.send({ method: "PUT", path: `/devstoreaccount1/${name}` }));
  }
  return replies.map(({ headers }) => headers["x-ms-request-id"]);
}

it("the seed of a world determines the ids of its requests", async () => {
  const first = await requestIdsOf(1);
  expect(await requestIdsOf(1)).toEqual(first);
  expect(new Set([...first, ...(await requestIdsOf(2))]).size).toBe(4);
});
