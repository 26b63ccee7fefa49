import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isAlive } from "./processes.ts";
import { canSyncFolders, syncFolder } from "./folders.ts";

it("flushes folders except on Windows, where they cannot be opened", () => {
  expect([canSyncFolders("win32"), canSyncFolders("darwin")]).toEqual([false, true]);
  const missing = join(tmpdir(), "etagere-no-such-folder");
  expect(() => syncFolder(missing, "win32")).not.toThrow();
  expect(() => syncFolder(missing, "linux")).toThrow("ENOENT");
});

it("finds out without /proc whether a process runs", () => {
  expect(isAlive({ pid: process.pid, startTime: "" })).toBe(true);
  const { pid } = spawnSync(process.execPath, ["--version"]);
  expect(isAlive({ pid, startTime: "" })).toBe(false);
});
