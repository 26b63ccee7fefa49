// `npm run bench`: measurements. Without one of the words below as the first, it compares this
// server with Azurite and plain Node (scripts/bench/main.ts; `-- --help` lists its options).
//   --profile OPERATION…   flame graphs of the server under load (scripts/bench/profile.ts)
//   --large                lists and searches a container of a million blobs (bench/large.ts)
//   --tree                 renames a directory with a million files below (bench/tree.ts)
//   --nodes                several server nodes on PostgreSQL, 4 minutes (bench/nodes.ts)
//   --node 20,22,24,26     this server on versions of Node.js, 9 minutes (bench/node-versions.ts)
//   --workers              one worker against two, with C generators (bench/workers.ts)
//   --peers                MinIO and versitygw from the Go proxy, with wrk (bench/peers.ts)
//   --store [FOLDER [URL]] the storage engines without HTTP (bench/store.ts)
//   --explorer [BLOBS]     the explorer on a million blobs (bench/explorer.mjs)
//   --smb                  smbclient against Samba and this server (bench/smb.mjs)
//   --feed                 CPU time that an event feed subscriber costs (bench/feed.ts)
//   --events               cost of the event log, rate and delay of a webhook (bench/events.ts)
//   --tracing              CPU time that traces cost (bench/tracing.ts)
//   --encryption           CPU time that encryption at rest costs (bench/encryption.ts)
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runBench } from "./bench/run.mjs";
import { openDatabase } from "./database.mjs";
import { nodeBinary } from "./node-versions.mjs";
import { root } from "./prepare.mjs";

const [first = ""] = process.argv.slice(2);
const measurements = {
  "--profile": () => runBench("profile", { needsServer: needsServer() }),
  "--large": () => runBench("large"),
  "--tree": () => runBench("tree", { needsServer: false }),
  "--nodes": measureNodes,
  "--node": measureNodeVersions,
  "--workers": () => runBench("workers", { needsServer: needsServer() }),
  "--peers": () => runBench("peers", { needsServer: needsServer() }),
  "--store": () => runBench("store", { needsServer: false }),
  "--explorer": () => import("./bench/explorer.mjs"),
  "--smb": () => import("./bench/smb.mjs"),
  "--events": () => runBench("events", { needsServer: needsServer() }),
  "--feed": () => runBench("feed", { needsServer: false }),
  "--tracing": () => runBench("tracing", { needsServer: false }),
  "--encryption": () => runBench("encryption", { needsServer: process.argv.includes("--sockets") }),
};
if (Object.hasOwn(measurements, first)) {
  // The measurement parses the remaining words itself.
  process.argv.splice(2, 1);
  await measurements[first]();
} else {
  runBench("main", { needsServer: needsServer() });
}

/** Whether `dist` is measured, and not another build. */
function needsServer() {
  return !process.argv.some((word) => word.startsWith("--program"));
}

/** The database flushes to the same disk as LMDB does, so that both acknowledge durable writes. */
async function measureNodes() {
  const { url, folder } = await openDatabase([], join(root, ".bench"));
  const [databasePid] = readFileSync(join(folder, "data", "postmaster.pid"), "latin1").split("\n");
  process.argv.push("--database", url, "--databasePid", databasePid);
  runBench("nodes", { needsServer: needsServer() });
}

/** The binaries come from npm. */
function measureNodeVersions() {
  const [versions = ""] = process.argv.splice(2, 1);
  if (!/^\d+(\.\d+)*(,\d+(\.\d+)*)*$/.test(versions)) {
    console.error(`--node: must be versions such as 20,22,24,26, got "${versions}"`);
    process.exit(2);
  }
  const binaries = versions.split(",").map((version) => nodeBinary(version).node);
  process.argv.splice(2, 0, binaries.join(","));
  runBench("node-versions", { needsServer: needsServer() });
}
