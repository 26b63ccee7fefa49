import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const programs = join(temporaryFolder(), "bin");
const record = join(programs, "record");
const canInstall = process.getuid?.() === 0 && existsSync("/etc/debian_version");

/** The packages that `installMissing` would install if no program were here but apt-get. */
function installed(words: string): readonly string[] {
  mkdirSync(programs, { recursive: true });
  writeFileSync(record, "");
  const pretended = `#!/bin/sh\necho "$@" >> ${record}\n`;
  writeFileSync(join(programs, "apt-get"), pretended, { mode: 0o755 });
  const program = `import { installMissing } from "./scripts/tools.mjs"; installMissing(${words});`;
  const env = { ...process.env, PATH: programs };
  const given = ["--input-type=module", "--eval", program];
  const { status, stderr } = spawnSync(process.execPath, given, { env, encoding: "utf8" });
  expect(status, stderr).toBe(0);
  const commands = readFileSync(record, "utf8").trim().split("\n");
  return commands
    .filter((line) => line.startsWith("install "))
    .flatMap((line) => line.split(" ").filter((word) => !/^-|^install$/.test(word)));
}

it.skipIf(!canInstall)("installs all missing programs, or only those that are named", () => {
  expect(installed("")).toEqual(expect.arrayContaining(["chromium", "rclone", "smbclient"]));
  const [, named = ""] =
    /installMissing\((.*)\)/.exec(readFileSync("scripts/test-deploy.mjs", "utf8")) ?? [];
  expect(installed(named)).toEqual(["smbclient"]);
});
