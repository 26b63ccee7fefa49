// Programs that tests use and npm does not bring. A part of the tests whose program is missing is
// left out, loudly, and fails where ETAGERE_REQUIRE_ALL=1 is set.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "./prepare.mjs";

/** `tests` is what needs the program; a program whose tests are not there is not asked for. */
export const tools = [
  { name: "openssl", probe: ["openssl", "version"], debian: "openssl", tests: "tests/https" },
  {
    name: "chromium",
    probe: ["chromium", "--version"],
    debian: "chromium",
    tests: "tests/explorer",
  },
  { name: "smbclient", probe: ["smbclient", "--version"], debian: "smbclient", tests: "tests/smb" },
  {
    name: "postgres",
    probe: ["sh", "-c", "ls /usr/lib/postgresql/*/bin/postgres"],
    debian: "postgresql",
    tests: "tests/postgres",
  },
  // Where nobody may trace, as in some containers, it is as good as missing.
  {
    name: "strace",
    probe: ["strace", "-o", "/dev/null", "true"],
    debian: "strace",
    tests: "tests/power-cut",
  },
  { name: "rclone", probe: ["rclone", "version"], debian: "rclone", tests: "tests/e2e/rclone" },
  { name: "az", probe: ["az", "version"], debian: "azure-cli", tests: "tests/e2e/azure-cli" },
];

export function missingTools() {
  return tools.filter(({ tests, probe }) => existsSync(join(root, tests)) && !answers(probe));
}

function answers([command, ...words]) {
  const { status } = spawnSync(command, words, { stdio: "ignore" });
  return status === 0;
}

/** Only where that is expected: as root on Debian, as in a container made for testing. */
export function installMissing() {
  const packages = missingTools().flatMap(({ debian }) => (debian === undefined ? [] : [debian]));
  const isRoot = process.getuid?.() === 0;
  if (packages.length === 0 || !isRoot || !existsSync("/etc/debian_version")) return;
  const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const options = { stdio: "inherit", env: environment };
  spawnSync("apt-get", ["update", "--quiet"], options);
  spawnSync(
    "apt-get",
    ["install", "--yes", "--quiet", "--no-install-recommends", ...packages],
    options,
  );
}
