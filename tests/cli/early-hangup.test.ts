import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";

/** Sends SIGHUP to the process before the modules of the command are loaded, and SIGTERM once it
 *  listens or prints. */
const preload = `
  setImmediate(() => process.kill(process.pid, "SIGHUP"));
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (text, ...rest) => {
    if (String(text).includes("explorer")) process.kill(process.pid, "SIGTERM");
    return write(text, ...rest);
  };`;

function run(...words: readonly string[]) {
  const program = ["--import", `data:text/javascript,${encodeURIComponent(preload)}`];
  const command = [...program, resolve("bin/etagere"), ...words];
  return spawnSync(process.execPath, command, { encoding: "utf8", cwd: temporaryFolder() });
}

const ports = ["blob", "dfs", "admin"].map((name) => `--${name}Port=0`);

it.runIf(process.platform !== "win32")("a server that is still loading ignores SIGHUP", () => {
  const { status, signal, stderr } = run("blob", "--inMemoryPersistence", ...ports);
  expect({ status, signal, stderr }).toEqual({ status: 0, signal: null, stderr: "" });
});

it.runIf(process.platform !== "win32")("another command ends with its terminal", () => {
  expect(run("completion", "bash").signal).toBe("SIGHUP");
});
