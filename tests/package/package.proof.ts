import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startCommand } from "../cli/start-command.ts";
import { pack } from "./packed-package.ts";

const folder = temporaryFolder();

const quiet = { encoding: "utf8", stdio: "pipe" } as const;

it("installs in an empty folder and serves", { timeout: 180_000 }, async () => {
  execFileSync("npm", ["init", "--yes"], { ...quiet, cwd: folder });
  const install = ["install", "--prefer-offline", "--no-audit", "--no-fund"];
  install.push(pack(".", folder).filename, pack("./packages/azurite-names", folder).filename);
  execFileSync("npm", install, { ...quiet, cwd: folder });
  const listeners = ["blob", "queue", "table", "file", "dfs", "smb", "admin"];
  const ports = listeners.map((name) => `--${name}Port=0`);
  const words = ["npx", "--no-install", "etagere", "--location", join(folder, "data"), ...ports];
  const server = await startCommand(words, { folder });
  try {
    const answer = await fetch(`${server.urlOf("Blob")}/devstoreaccount1?comp=list`);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect((await fetch(`${server.urlOf("admin")}/readyz`)).status).toBe(200);
  } finally {
    await server.end();
  }
  const named = ["npx", "--no-install", "azurite-blob", "--inMemoryPersistence", ...ports];
  const blobs = await startCommand(named, { folder });
  expect([blobs.urlOf("Blob") === "", blobs.urlOf("Queue")]).toEqual([false, ""]);
  await blobs.end();
  const tour = execFileSync("npx", ["--no-install", "etagere", "tour"], { ...quiet, cwd: folder });
  expect(tour).toContain("\nAll steps succeeded.\n");
});
