import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startCommand } from "./start-command.ts";

const folder = temporaryFolder();
const programs = join(folder, "node_modules", ".bin");
mkdirSync(programs, { recursive: true });
symlinkSync(resolve("bin/etagere"), join(programs, "etagere"));
writeFileSync(join(folder, "package.json"), '{ "private": true }');

const stopMillisecondsMax = 15_000;
const ports = ["blob", "queue", "table", "file", "dfs", "smb", "admin"];

const stops = async (workers: number): Promise<void> => {
  const flags = [...ports.map((name) => `--${name}Port=0`), `--workers=${workers}`];
  const words = ["npx", "--no-install", "etagere", ...flags];
  const server = await startCommand(words, { folder });
  // The server has the standard output, so that this is emitted after its end.
  const signal = AbortSignal.timeout(stopMillisecondsMax);
  const closed = once(server.child, "close", { signal });
  // Only npx, as `kill` of a shell does it for a background process.
  server.child.kill("SIGTERM");
  try {
    await closed;
  } finally {
    // Rejects if no process of the group is left.
    await server.end("SIGKILL").catch(() => {});
  }
  expect(server.lines.filter((line) => line.endsWith("successfully closed")).length).toBe(5);
};

it.each([1, 2])("the server with %s workers stops after SIGTERM to npx", stops, 30_000);
