import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { pack } from "./packed-package.ts";

/** Not a dependency of the project: its 280 packages are needed here only. */
const jest = "jest@30.5.2";
const folder = temporaryFolder();
const installMillisecondsMax = 300_000;

beforeAll(() => {
  cpSync("tests/fixtures/jest-project", folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "project", private: true }));
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
    devDependencies: Record<string, string>;
  };
  const client = `@azure/storage-blob@${devDependencies["@azure/storage-blob"]}`;
  const words = ["install", "--prefer-offline", "--no-audit", "--no-fund", client, jest];
  const options = { cwd: folder, encoding: "utf8", stdio: "pipe" } as const;
  execFileSync("npm", [...words, pack(".", folder).filename], options);
}, installMillisecondsMax);

function runJest(words: readonly string[], nodeOptions: readonly string[] = []) {
  const program = join(folder, "node_modules/jest/bin/jest.js");
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [...nodeOptions, program, "--ci", ...words],
    { cwd: folder, encoding: "utf8" },
  );
  return { output: `${stdout}${stderr}`, status };
}

/** The addresses that the tests print. */
function serversIn(output: string): readonly string[] {
  return [...output.matchAll(/server at (\S+)/g)].map(([, url = ""]) => url);
}

const stuck = /did not exit|failed to exit gracefully|open handle/;

describe("Jest", () => {
  it("runs CommonJS tests with fixtures, time travel and faults", () => {
    const { output, status } = runJest(["storage", "package-entry"]);
    expect(output).toContain("3 passed");
    expect(output).not.toMatch(stuck);
    expect(status).toBe(0);
  });

  it("runs several files with one server", () => {
    const { output, status } = runJest(["--runInBand", "one.test", "two.test"]);
    expect(output).toContain("2 passed");
    expect(output).not.toMatch(stuck);
    expect(status).toBe(0);
    expect([serversIn(output).length, new Set(serversIn(output)).size]).toEqual([2, 1]);
  });

  it.each([
    ["processes", []],
    ["threads", ["--workerThreads"]],
  ])("starts one server for each of its %s", (_, words) => {
    for (let copy = 0; copy < 4; copy += 1) {
      cpSync(join(folder, "one.test.js"), join(folder, `copy-${copy}.test.js`));
    }
    const { output, status } = runJest(["--maxWorkers=2", "--no-cache", ...words, "copy-"]);
    expect(output).toContain("4 passed");
    expect(output).not.toMatch(stuck);
    expect(status).toBe(0);
    expect(serversIn(output)).toHaveLength(4);
    expect(new Set(serversIn(output)).size).toBeLessThanOrEqual(2);
  });

  it("runs ES modules", () => {
    const words = ["--testMatch", "**/esm.test.mjs"];
    const { output, status } = runJest(words, ["--experimental-vm-modules"]);
    expect(output).toContain("1 passed");
    expect(status).toBe(0);
  });
});
