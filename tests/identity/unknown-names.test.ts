import { expect, it } from "vitest";
import { resolveOptions } from "../../src/server/options.ts";
import { simWorld } from "../harness/sim-world.ts";
import { startWith } from "../../src/server/start.ts";
import { freePorts } from "../harness/server.ts";

it("the log names accounts and principals of role assignments that do not exist", async () => {
  const world = simWorld(1);
  const role = "Storage Blob Data Reader";
  const identity = {
    principals: { app: { objectId: "o1" } },
    roleAssignments: [
      { principal: "app", role, account: "devstoreaccount1" },
      { principal: "aap", role, account: "later" },
    ],
  };
  const resolved = resolveOptions({ ...freePorts, inMemoryPersistence: true, identity });
  if (!resolved.ok) throw new Error(resolved.problems.join("\n"));
  const warnings = () =>
    world.log.lines.filter(({ level, message }) => level === "warn" && /unknown/.test(message));
  await using server = await startWith(resolved.value, { ...world, announce: () => {} });
  const expected = [{ accounts: ["later"] }, { principals: ["aap"] }];
  expect(warnings().map(({ fields }) => fields)).toEqual(expected);
  await server.reload();
  expect(warnings()).toHaveLength(2 * expected.length);
});
