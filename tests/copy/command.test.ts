import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { start } from "../../src/index.ts";
import { program } from "../harness/child-server.ts";
import { contentsOf, fill, fillAgain } from "./shelf-contents.ts";

const folder = temporaryFolder();

const at = (name: string): string => join(folder, name);
const served = (name: string) => start({ port: 0, noSmb: true, location: at(name) });

/** Milliseconds until the command is killed; undefined: it runs to its end. */
async function run(words: readonly string[], killedAfter?: number) {
  const child = spawn(process.execPath, [program, ...words]);
  const exited = once(child, "exit") as Promise<[number | null]>;
  const timer = setTimeout(() => child.kill("SIGKILL"), killedAfter ?? 2 ** 30);
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  clearTimeout(timer);
  return { code, out, errors };
}

const copy = (words: readonly string[], killedAfter?: number) =>
  run(["copy", ...words], killedAfter);

it("resumes a folder copy after any kill, shows progress and prints a summary", async () => {
  for (const round of [1, 2]) {
    const server = await served("source");
    await (round === 1 ? fill(server.connectionString) : fillAgain(server.connectionString));
    await server.stop();
  }
  const server = await served("source");
  const original = await contentsOf(server.connectionString);
  await server.stop();
  const words = ["--from", at("source"), "--to", at("target")];
  for (const milliseconds of [150, 250, 350, 450, 550]) await copy(words, milliseconds);
  const again = await copy(words);
  if (again.code === 0) expect(again.errors).toContain("comparing contents: 100%");
  // One of the killed commands may have completed.
  else expect(again.errors).toContain("the target is not empty");
  expect(await run(["check", at("target")])).toMatchObject({ code: 0 });
  const copied = await served("target");
  expect(await contentsOf(copied.connectionString)).toEqual(original);
  await copied.stop();
});

it("reports invalid arguments", async () => {
  expect(await copy([])).toMatchObject({ code: 1, errors: expect.stringContaining("usage:") });
  const mistyped = await copy(["--form", at("source")]);
  expect(mistyped.errors).toMatch(/^etagere copy: --form: no such option; did you mean --from\?\n/);
  const missing = await copy(["--from", at("nowhere"), "--to", at("x")]);
  expect(missing.errors).toContain("is no data folder");
  const halves = await copy(["--from", at("source"), "--to", "postgres://x/y"]);
  expect(halves.errors).toContain("--to: postgres:// stores records only");
  expect([missing.code, halves.code]).toEqual([1, 1]);
});
