import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";

/** Runs the command as on another version of Node.js, where nothing else of it may load. */
function runOn(version: string) {
  const preload = `Object.defineProperty(process, "versions", { value: { node: "${version}" } })`;
  const words = ["--import", `data:text/javascript,${encodeURIComponent(preload)}`];
  const command = [...words, resolve("bin/etagere"), "--help"];
  return spawnSync(process.execPath, command, { encoding: "utf8" });
}

it.each(["16.20.2", "18.20.8", "20.18.3"])("Node.js %s prints one message", (version) => {
  const { status, stdout, stderr } = runOn(version);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toBe(`etagere: needs Node.js 20.19 or later, and this is ${version}\n`);
});

it.each(["20.19.0", "22.1.0"])("Node.js %s prints the help", (version) => {
  const { status, stdout } = runOn(version);
  expect(status).toBe(0);
  expect(stdout).toContain("--blobPort");
});

// `npm test -- --node 18` runs it on a real old version; those before 18 load no module without an
// extension.
it("the program has no syntax or modules that old versions lack", () => {
  const text = readFileSync("bin/etagere", "utf8").replaceAll(/\/\/.*|\/\*[\s\S]*?\*\//g, "");
  expect(text).not.toMatch(/\?\.|\?\?|\bawait\b|^import |"node:/m);
  expect(JSON.parse(readFileSync("bin/package.json", "utf8"))).toEqual({ type: "commonjs" });
});

it("the message names the version that the package requires", () => {
  const { engines } = JSON.parse(readFileSync("package.json", "utf8")) as {
    engines: { node: string };
  };
  expect(engines.node).toBe(">=20.19");
});

// A path that matches no file is no error for vitest as long as another one does.
it("the tests that run on every version exist", () => {
  const program = `import { smokeTests } from "./scripts/node-versions.mjs";
    console.log(JSON.stringify(smokeTests));`;
  const words = ["--input-type=module", "--eval", program];
  const paths = JSON.parse(execFileSync(process.execPath, words, { encoding: "utf8" })) as string[];
  expect(paths.length).toBeGreaterThan(10);
  expect(paths.filter((path) => !existsSync(path))).toEqual([]);
});
