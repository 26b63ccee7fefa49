import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "./files.ts";

it("creates a folder with its parents, and accepts an existing one", async () => {
  const root = await mkdtemp(join(tmpdir(), "etagere-folder-"));
  await makeFolder(join(root, "a", "b", "c"));
  await makeFolder(join(root, "a", "b", "c"));
  expect((await stat(join(root, "a", "b", "c"))).isDirectory()).toBe(true);
  await writeFile(join(root, "file"), "");
  await expect(makeFolder(join(root, "file"))).rejects.toThrow("EEXIST");
  await rm(root, { recursive: true });
});

it.runIf(process.platform === "linux")("fails where no folder can be created", async () => {
  await expect(makeFolder("/proc/none/of/these")).rejects.toThrow("ENOENT");
});
