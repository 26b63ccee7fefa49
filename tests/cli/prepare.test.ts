import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const clone = temporaryFolder();
const scripts = join(clone, "scripts");
const tools = join(clone, "node_modules", ".bin");

/** A tool that prints its name and creates what the real one creates. */
function pretend(name: string, ...made: readonly string[]): void {
  const path = join(tools, name);
  const creation = made.map((file) => `mkdir -p "$(dirname ${file})"\ntouch ${file}\n`);
  const text = `#!/bin/sh\necho ${name} >&2\n${creation.join("")}`;
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

function prepare(): readonly string[] {
  const address = JSON.stringify(pathToFileURL(join(scripts, "prepare.mjs")).href);
  const program =
    `const { ensureInstalled, ensureBuilt } = await import(${address});` +
    "ensureInstalled(); ensureBuilt();";
  const env = { ...process.env, PATH: `${tools}${delimiter}${process.env["PATH"]}` };
  const words = ["--input-type=module", "--eval", program];
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: "utf8" });
  expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
  return stderr.split("\n").filter((line) => line !== "");
}

it("prints what a fresh clone is waiting for, and nothing once it is prepared", () => {
  for (const folder of [
    scripts,
    tools,
    ...["src", "ui/src", "examples/tour"].map((name) => join(clone, name)),
  ]) {
    mkdirSync(folder, { recursive: true });
  }
  cpSync("scripts/prepare.mjs", join(scripts, "prepare.mjs"));
  const files = ["package-lock.json", "tsconfig.json", "tsconfig.build.json"];
  for (const name of [...files, "ui/index.html", "ui/vite.config.ts"]) {
    writeFileSync(join(clone, name), "");
  }
  mkdirSync(join(scripts, "release"));
  writeFileSync(join(scripts, "release", "notices.mjs"), 'console.error("notices");\n');
  pretend("npm", join(clone, "node_modules", ".package-lock.json"));
  pretend("tsc", join(clone, "dist", "cli", "main.js"));
  pretend("vite", join(clone, "dist", "tour.js"), join(clone, "ui", "dist", "index.html"));
  expect(prepare()).toEqual([
    "etagere: installing what package-lock.json lists (npm ci) …",
    "npm",
    "etagere: building the server (dist) …",
    "tsc",
    "etagere: bundling it (dist/bundle) …",
    "vite",
    "etagere: bundling the tour (dist/tour.js) …",
    "vite",
    "notices",
    "etagere: building the explorer's page (ui/dist) …",
    "vite",
  ]);
  expect(prepare()).toEqual([]);
});
