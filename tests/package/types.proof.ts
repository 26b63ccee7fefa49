import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { pack } from "./packed-package.ts";

/** Not dependencies of the project: they judge its package, nothing else. */
const checkers = ["publint@0.3.25", "@arethetypeswrong/cli@0.18.5"];
/** The oldest compiler that the guide names (docs/guides/testing.md), and the types it needs. */
const oldest = ["typescript@5.7.3", "@types/node@20.19.43", "vitest@4.1.11"];
const folder = temporaryFolder();
const names = { server: ".", azuriteNames: "./packages/azurite-names" };
const archives = { server: "", azuriteNames: "" };
const installMillisecondsMax = 300_000;

beforeAll(() => {
  for (const name of ["server", "azuriteNames"] as const) {
    archives[name] = join(folder, pack(names[name], folder).filename);
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "project", private: true }));
  const words = ["install", "--prefer-offline", "--no-audit", "--no-fund", ...checkers, ...oldest];
  const options = { cwd: folder, encoding: "utf8", stdio: "pipe" } as const;
  execFileSync("npm", [...words, archives.server], options);
}, installMillisecondsMax);

function runTool(name: string, words: readonly string[]) {
  const program = join(folder, "node_modules", ".bin", name);
  const { stdout, stderr, status } = spawnSync(program, words, { cwd: folder, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

it("publint accepts both packages, also its suggestions", () => {
  for (const archive of Object.values(archives)) {
    const { status, output } = runTool("publint", ["--strict", archive]);
    expect(status, output).toBe(0);
    expect(output).toContain("All good!");
  }
});

it("are-the-types-wrong accepts every entry of the package", () => {
  const words = [archives.server, "--profile", "node16"];
  // The program is no module.
  words.push("--exclude-entrypoints", "./bin/etagere");
  const { status, output } = runTool("attw", [...words, "--format", "json"]);
  expect(status, output).toBe(0);
  const { analysis } = JSON.parse(output) as { analysis: { entrypoints: object } };
  const entries = [".", "./jest", "./node-test", "./vitest"];
  expect(Object.keys(analysis.entrypoints).toSorted()).toEqual(entries);
});

const users = {
  "user.cts": `import etagere = require("etagere");
    import { start, type StartOptions } from "etagere";
    import { testServer, type TestServer } from "etagere/jest";
    import { testServer as ofNode, type TestServer as NodeServer } from "etagere/node-test";
    import { testServer as ofVitest, type TestServer as VitestServer } from "etagere/vitest";
    export const others: readonly [NodeServer, VitestServer] = [ofNode(), ofVitest()];
    const options: StartOptions = { blobPort: 0 };
    export const one: Promise<etagere.EtagereServer> = start(options);
    export const refused = (error: unknown): boolean => error instanceof etagere.StartRefused;
    export const server: TestServer = testServer(options);`,
  "user.mts": `import { start, StartRefused, type EtagereServer } from "etagere";
    import { testServer } from "etagere/jest";
    export const one: Promise<EtagereServer> = start({ blobPort: 0 });
    export const refused = (error: unknown): boolean => error instanceof StartRefused;
    export const { urls } = testServer();`,
};

const installed = join(folder, "node_modules/.bin/tsc");
const compilers = {
  "the present one": [resolve("node_modules/.bin/tsc"), "--skipLibCheck", "--types", ""],
  // All declarations are checked, as without settings.
  "the oldest one": [installed, "--target", "es2023", "--types", "node"],
};

describe.each(Object.entries(compilers))("TypeScript, %s", (_, [compiler = "", ...flags]) => {
  it.each(Object.keys(users) as (keyof typeof users)[])("compiles %s", (name) => {
    const sources = join(folder, "sources");
    mkdirSync(sources, { recursive: true });
    writeFileSync(join(sources, name), users[name]);
    const words = ["--module", "nodenext", "--strict", "--noEmit", ...flags, join(sources, name)];
    const { status, stdout } = spawnSync(compiler, words, { cwd: folder, encoding: "utf8" });
    expect(status, stdout).toBe(0);
  });
});

it("require loads the entry for node:test", () => {
  const program = `const { testServer } = require("etagere/node-test"); testServer();`;
  const words = ["--no-warnings", "--eval", program];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: "utf8" });
  expect(status, stderr).toBe(0);
});
