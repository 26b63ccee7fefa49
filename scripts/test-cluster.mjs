// `npm run test:cluster`: what takes minutes and real parts. Ceph loses an object store and both
// gateways under uploads; PostgreSQL fails over ten times; locks of a killed node go in their time.
import { ensureBuilt, ensureInstalled, run, tool } from "./prepare.mjs";

ensureInstalled();
ensureBuilt();
process.env["ETAGERE_CLUSTER"] ??= "1";
process.env["ETAGERE_FAILOVER_ROUNDS"] ??= "10";
const words = process.argv.slice(2);
const chosen = words.length > 0 ? words : ["tests/cluster", "tests/postgres"];
run(tool("vitest"), ["run", "--no-file-parallelism", ...chosen]);
