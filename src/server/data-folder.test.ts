import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { nextDataFolder, openDataFolder, removeOldDataFolders } from "./data-folder.ts";

let location = "";
beforeEach(async () => {
  location = await mkdtemp(join(tmpdir(), "etagere-data-"));
});
afterEach(() => rm(location, { recursive: true, force: true }));

it("begins with the first folder and finds it again", async () => {
  expect(basename(await openDataFolder(location))).toBe("data-1");
  expect(basename(await openDataFolder(location))).toBe("data-1");
});

it("goes on with the folder of the last reset, counting in numbers", async () => {
  await openDataFolder(location);
  for (let reset = 0; reset < 10; reset++) await nextDataFolder(location);
  expect(basename(await openDataFolder(location))).toBe("data-11");
});

it("removes what resets left behind and nothing else", async () => {
  await openDataFolder(location);
  await writeFile(join(location, "data-1", "file"), "");
  await writeFile(join(location, "notes.txt"), "");
  await nextDataFolder(location);
  await removeOldDataFolders(location);
  expect((await readdir(location)).toSorted()).toEqual(["data-2", "notes.txt"]);
});
