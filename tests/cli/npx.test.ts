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

it.each([1, 2])("the server with %s workers stops when npx has got SIGTERM", { timeout: 30_000 }, async (workers) => {
  const flags = [...ports.map((name) => `--${name}Port=0`), `--workers=${workers}`];
  const words = ["npx", "--no-install", "etagere", ...flags];
  const server = await startCommand(words, { folder });
  // The server has the standard output, so that this is emitted after its end.
  const closed = once(server.child, "close", { signal: AbortSignal.timeout(stopMillisecondsMax) });
  // Only npx, as `kill` of a shell does it for a background process.
  server.child.kill("SIGTERM");
  await closed.finally(() => server.end("SIGKILL").catch(() => {}));
  expect(server.lines.filter((line) => line.endsWith("successfully closed")).length).toBe(5);
});
