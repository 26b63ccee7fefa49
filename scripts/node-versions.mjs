// `npm test -- --node 18,20,22`: runs a part of the tests on other versions of Node.js, which are
// downloaded from npm; with `--all` every test. Versions that are not supported must print one
// message.
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { ensureBuilt, ensureInstalled, root } from "./prepare.mjs";
import { unpackedPackage } from "./release/npm-archive.mjs";
import { hostPlatform, platforms } from "./release/platforms.mjs";
import { exclusionsOfMissing, installMissing } from "./tools.mjs";

/** Engines, command line, workers, REST with the official clients, races, SMB. */
export const smokeTests = [
  "src/store/lmdb/lmdb-engine.test.ts",
  "src/store/lmdb/overlay-engine.test.ts",
  "src/content/body/receive.test.ts",
  "src/content/concurrency.test.ts",
  "tests/cli/command.test.ts",
  "tests/cli/folder-commands.test.ts",
  "tests/cli/node-version.test.ts",
  "tests/workers/workers.test.ts",
  "tests/sdk/blob-types.test.ts",
  "tests/sdk/datalake.test.ts",
  "tests/sdk/file-shares.test.ts",
  "tests/race/blob-race.test.ts",
  "tests/race/table-race.test.ts",
  "tests/smb-wire/rest-and-smb-locks.test.ts",
  "tests/https",
];

const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const oldest = engines.node.replace(">=", "").split(".").map(Number);

/** `versions` as in `20,22.3,26`; each stands for its newest release. `tests` replaces the part;
 *  `--all` as the first stands for all tests. Ends this process if a version fails. */
export function testNodeVersions(versions, tests) {
  ensureInstalled();
  ensureBuilt();
  const words = wordsFor(tests);
  const failed = versions.split(",").filter((version) => !passes(version, words));
  if (failed.length === 0) return;
  console.error(`failed on Node.js ${failed.join(", ")}`);
  process.exit(1);
}

function wordsFor([first, ...others]) {
  if (first === undefined) return smokeTests;
  if (first !== "--all") return [first, ...others];
  installMissing();
  return [...exclusionsOfMissing(), ...others];
}

/** The newest release of a version and the path of its binary, which is downloaded if needed. */
export function nodeBinary(wanted) {
  const name = platforms[hostPlatform].node;
  const version = newestOf(name, wanted);
  const node = join(unpackedPackage({ name, version }), platforms[hostPlatform].binary);
  chmodSync(node, 0o755);
  return { version, node };
}

function passes(wanted, words) {
  const { version, node } = nodeBinary(wanted);
  console.log(`\n== Node.js ${version}`);
  if (!isSupported(version)) return isRefused(node);
  const environment = { ...process.env, PATH: dirname(node) + delimiter + process.env["PATH"] };
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const options = { cwd: root, stdio: "inherit", env: environment };
  return spawnSync(node, [vitest, "run", ...words], options).status === 0;
}

/** npm lists matching versions in no particular order. */
function newestOf(name, wanted) {
  const words = ["view", `${name}@${wanted}`, "version", "--json", "--loglevel=error"];
  const found = [JSON.parse(execFileSync("npm", words, { encoding: "utf8" }))].flat();
  const newest = found.toSorted((a, b) => compare(partsOf(a), partsOf(b))).at(-1);
  if (newest === undefined) throw new Error(`npm has no ${name}@${wanted}`);
  return newest;
}

function isSupported(version) {
  return compare(partsOf(version), oldest) >= 0;
}

function partsOf(version) {
  return version.split(".").map(Number);
}

function compare(left, right) {
  const at = left.findIndex((part, index) => part !== (right[index] ?? part));
  return at < 0 ? 0 : left[at] - right[at];
}

/** Whether every use of the program prints one line that names the required version. */
function isRefused(node) {
  return [["--help"], [], ["check", "folder"]].every((words) => {
    const command = [join(root, "bin", "etagere"), ...words];
    const { status, stdout, stderr } = spawnSync(node, command, { encoding: "utf8" });
    console.log(`etagere ${words.join(" ")}\n${stdout}${stderr}exit code ${status}`);
    const isMessage = /^etagere: needs Node\.js [\d.]+ or later, and this is [\d.]+\n$/.test(
      stderr,
    );
    return status === 1 && stdout === "" && isMessage;
  });
}
