import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parseCommandLine } from "../../src/cli/command-line.ts";
import { resolveOptions } from "../../src/server/options.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();
const unit = readFileSync("deploy/systemd/etagere.service", "utf8");

function settingOf(name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, "m").exec(unit)?.[1];
}

it("the unit starts with options that exist and reloads with SIGHUP", () => {
  const [program, ...flags] = (settingOf("ExecStart") ?? "").split(" ");
  const parsed = parseCommandLine(flags);
  if (parsed.run !== "serve") throw new Error(`runs ${parsed.run}`);
  expect(program).toBe("/usr/local/bin/etagere");
  expect([...parsed.problems, ...problemsOf(parsed.values)]).toEqual([]);
  expect(settingOf("ExecReload")).toBe("/bin/kill -HUP $MAINPID");
  // Workers end when their supervisor says so.
  expect(settingOf("KillMode")).toBe("mixed");
});

function problemsOf(values: Parameters<typeof resolveOptions>[0]): readonly string[] {
  const options = resolveOptions(values);
  return options.ok ? [] : options.problems;
}

it("the unit may write only its state and its cache", () => {
  expect(settingOf("ProtectSystem")).toBe("strict");
  expect([settingOf("StateDirectory"), settingOf("CacheDirectory")]).toEqual([
    "etagere",
    "etagere",
  ]);
  expect(settingOf("Environment")).toBe("ETAGERE_CACHE=%C/etagere");
  expect(unit).not.toMatch(/^ReadWritePaths=/m);
  expect(settingOf("CapabilityBoundingSet")).toBe("");
});

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

it.skipIf(!hasSystemd)("systemd accepts the unit and rates it as protected", () => {
  const path = join(folder, "etagere.service");
  // The program is not installed here.
  writeFileSync(path, unit.replace("ExecStart=/usr/local/bin/etagere", "ExecStart=/bin/true"));
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", path], {
    encoding: "utf8",
  });
  expect({ status, output: stdout + stderr }).toEqual({ status: 0, output: "" });
  const rated = spawnSync(
    "systemd-analyze",
    ["security", "--offline=true", "--threshold=20", path],
    { encoding: "utf8" },
  );
  expect(rated.status, rated.stdout + rated.stderr).toBe(0);
});
