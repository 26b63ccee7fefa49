import { expect, it } from "vitest";
import { newFile, newShare } from "../../tests/harness/file-steps.ts";
import { simFile } from "../../tests/harness/sim-file.ts";
import { closeOrphanedHandles } from "../file/filesystem/sweep.ts";

it("closes the handles of a process that has ended, and no others", async () => {
  const world = await simFile();
  await newShare(world);
  await newFile(world, "/share/f", "text");
  await world.open("share", { path: ["f"], access: 3, share: 0 });
  const get = () => world.send({ method: "GET", path: "/share/f" });
  const alive = () => Promise.resolve(new Set(["test"]));
  expect(await closeOrphanedHandles(world.runtime, alive)).toBe(0);
  expect((await get()).code).toBe("SharingViolation");
  expect(await closeOrphanedHandles(world.runtime, () => Promise.resolve(new Set()))).toBe(1);
  expect((await get()).body).toBe("text");
});
