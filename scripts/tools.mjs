// Programs that tests need and npm does not install. Tests whose program is missing are skipped
// with a message; with ETAGERE_REQUIRE_ALL=1 that is a failure.
// `sudo node scripts/tools.mjs` installs the missing ones on Debian.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./prepare.mjs";

/** `probe` succeeds if the program is installed. A program is needed only if the folder `tests`
 *  exists; one that is `optional` only makes its tests faster. */
export const tools = [
  { name: "openssl", probe: ["openssl", "version"], debian: "openssl", tests: "tests/https" },
  {
    name: "chromium",
    probe: ["chromium", "--version"],
    debian: "chromium",
    tests: "tests/explorer",
  },
  {
    name: "chromium-headless-shell",
    probe: ["chromium-headless-shell", "--version"],
    debian: "chromium-headless-shell",
    tests: "tests/explorer",
    optional: true,
  },
  { name: "smbclient", probe: ["smbclient", "--version"], debian: "smbclient", tests: "tests/smb" },
  {
    name: "postgres",
    probe: ["sh", "-c", "ls /usr/lib/postgresql/*/bin/postgres"],
    debian: "postgresql",
    tests: "tests/postgres",
  },
  // Tracing itself is probed: some containers forbid it.
  {
    name: "strace",
    probe: ["strace", "-o", "/dev/null", "true"],
    debian: "strace",
    tests: "tests/power-cut",
  },
  { name: "rclone", probe: ["rclone", "version"], debian: "rclone", tests: "tests/e2e/rclone" },
  { name: "az", probe: ["az", "version"], debian: "azure-cli", tests: "tests/e2e/azure-cli" },
  {
    name: "the Azure libraries for Python",
    probe: [
      "/usr/bin/python3",
      "-c",
      "import azure.storage.blob, azure.storage.queue, azure.storage.fileshare, azure.data.tables",
    ],
    debian: "python3-azure",
    tests: "tests/guides",
  },
];

function missingTools() {
  return tools.filter(({ tests, probe }) => existsSync(join(root, tests)) && !succeeds(probe));
}

/** Words for vitest that leave out the tests whose program is missing, each with a message. Ends
 *  this process instead if no test may be left out. */
export function exclusionsOfMissing() {
  const missing = missingTools().filter(({ optional }) => optional !== true);
  for (const { name, tests } of missing) {
    console.error(`\n*** NOT TESTED: ${tests} needs the program ${name}, which is missing ***\n`);
  }
  if (missing.length > 0 && process.env["ETAGERE_REQUIRE_ALL"] === "1") {
    console.error("ETAGERE_REQUIRE_ALL=1: install the missing programs, no test may be skipped");
    process.exit(1);
  }
  return missing.flatMap(({ tests }) => ["--exclude", `${tests}/**`]);
}

function succeeds([command, ...words]) {
  const { status } = spawnSync(command, words, { stdio: "ignore" });
  return status === 0;
}

/** Installs missing programs, all or those of the list, but only as root on Debian, as in a
 *  container for tests. */
export function installMissing(names = tools.map(({ name }) => name)) {
  const unknown = names.find((name) => !tools.some((tool) => tool.name === name));
  if (unknown !== undefined) throw new Error(`no tool "${unknown}"`);
  const missing = missingTools().filter(({ name }) => names.includes(name));
  const isRoot = process.getuid?.() === 0;
  if (missing.length === 0 || !isRoot || !existsSync("/etc/debian_version")) return;
  runApt("update", []);
  const [optional, needed] = [true, false].map((is) =>
    missing.filter((one) => (one.optional === true) === is).map(({ debian }) => debian),
  );
  // One package that does not exist would prevent the installation of all others.
  for (const packages of [needed, ...optional.map((name) => [name])]) {
    if (packages.length > 0) {
      runApt("install", ["--yes", "--no-install-recommends", ...packages]);
    }
  }
}

function runApt(action, words) {
  const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", [action, "--quiet", ...words], { stdio: "inherit", env: environment });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) installMissing();
