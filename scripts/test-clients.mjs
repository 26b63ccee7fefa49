// `npm run test:clients [-- NAME …]`: runs the examples of docs/CLIENTS.md with the real clients, which
// are installed into a temporary folder. Clients whose tools or packages are missing are skipped
// with a message; with ETAGERE_REQUIRE_ALL=1 that is a failure.
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureBuilt, ensureInstalled } from "./prepare.mjs";
import { answerHelp } from "./script-options.mjs";

answerHelp(import.meta.url);
ensureInstalled();
ensureBuilt();
const { BlobServiceClient } = await import("@azure/storage-blob");
const { developmentAccountKey: key } = await import("../dist/account/settings.js");
const { clients } = await import("../tests/clients/clients.mjs");
const { Missing } = await import("../tests/clients/commands.mjs");
const { canListen, startServer } = await import("../tests/clients/server.mjs");

const { runLive } = await import("../tests/clients/live/live.mjs");
const { runHadoopSuite } = await import("../tests/clients/hadoop-suite/suite.mjs");

// So that "exit" is emitted, which ends the processes that were started.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

const results = { passed: [], failed: [], skipped: [] };
const asked = process.argv.slice(2);
const live = /^--(go|python)-live$/.exec(asked[0] ?? "")?.[1];
const unknown = asked.find((name) => !Object.hasOwn(clients, name));
if (live !== undefined) {
  await attemptSuite(() => runLive(live, asked.slice(1)));
} else if (asked[0] === "--hadoop") {
  await attemptSuite(() => runHadoopSuite(asked.slice(1)));
} else if (unknown === undefined) {
  await runAll(asked.length > 0 ? asked : Object.keys(clients));
} else {
  console.error(`no client "${unknown}"; there are ${Object.keys(clients).join(", ")}`);
  process.exitCode = 1;
}

async function runAll(names) {
  const work = mkdtempSync(join(tmpdir(), "etagere-clients-"));
  // pgBackRest runs as another user and reads files below.
  chmodSync(work, 0o755);
  const location = join(work, "data");
  // The Java client for files supports only port 80.
  const isPort80Ours = await canListen(80);
  const server = await startServer(location, ["--filePort", isPort80Ours ? "80" : "0"]);
  try {
    const connectionString = `DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=${key};BlobEndpoint=http://${server.blob}/devstoreaccount1`;
    const service = BlobServiceClient.fromConnectionString(connectionString);
    for (const name of ["container", "deltalake", "polars", "obstore", "backup"]) {
      await service.createContainer(name);
    }
    const test = { work, location, server, key, connectionString, isPort80Ours };
    for (const name of names) await attempt(name, test);
  } finally {
    await server.stop();
    rmSync(work, { recursive: true, force: true });
  }
  report();
}

/** The tests of Azure's own libraries and of Hadoop print their results. */
async function attemptSuite(run) {
  try {
    process.exitCode = (await run()) ? 0 : 1;
  } catch (error) {
    const isMissing = error instanceof Missing;
    console.error(isMissing ? `SKIPPED: ${error.message}` : error);
    // Ends the processes that still run.
    process.exit(isMissing && process.env["ETAGERE_REQUIRE_ALL"] !== "1" ? 0 : 1);
  }
}

async function attempt(name, test) {
  console.log(`\n== ${name}`);
  try {
    await clients[name](test);
    results.passed.push(name);
  } catch (error) {
    const isMissing = error instanceof Missing;
    console.error(isMissing ? `SKIPPED: ${error.message}` : error);
    results[isMissing ? "skipped" : "failed"].push(name);
  }
}

function report() {
  console.log("");
  for (const [what, names] of Object.entries(results)) {
    if (names.length > 0) console.log(`${what}: ${names.join(", ")}`);
  }
  const isIncomplete = process.env["ETAGERE_REQUIRE_ALL"] === "1" && results["skipped"].length > 0;
  process.exitCode = results.failed.length > 0 || isIncomplete ? 1 : 0;
}
