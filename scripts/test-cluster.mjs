// `npm run test:cluster`: slow tests with real Ceph and PostgreSQL. Ceph loses an object store and
// both gateways under uploads; PostgreSQL fails over ten times; locks of a killed node expire.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { ensureBuilt, ensureInstalled, run, tool } from "./prepare.mjs";
import { installMissing } from "./tools.mjs";
import { answerHelp } from "./script-options.mjs";

answerHelp(import.meta.url);
const packages = ["ceph-mon", "ceph-mgr", "ceph-osd", "radosgw", "ceph-common"];
const hasCeph = () => spawnSync("radosgw", ["--version"], { stdio: "ignore" }).status === 0;

ensureInstalled();
installMissing();
if (!hasCeph() && process.getuid?.() === 0 && existsSync("/etc/debian_version")) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const words = ["install", "--yes", "--quiet", "--no-install-recommends", ...packages];
  spawnSync("apt-get", words, { stdio: "inherit", env });
}
if (!hasCeph()) {
  console.error(`Ceph is missing; on Debian: apt-get install ${packages.join(" ")}`);
  process.exit(1);
}
ensureBuilt();
process.env["ETAGERE_CLUSTER"] ??= "1";
process.env["ETAGERE_FAILOVER_ROUNDS"] ??= "10";
const words = process.argv.slice(2);
const chosen = words.length > 0 ? words : ["tests/cluster", "tests/postgres"];
run(tool("vitest"), ["run", "--no-file-parallelism", ...chosen]);
