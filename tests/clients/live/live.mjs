// `npm run test:clients -- --go-live|--python-live [LIBRARY …] [--test PATTERN] [--work FOLDER]`:
// runs the live tests of Azure's own libraries, unchanged, against a server in the place of the
// cloud. They run in a network and mount namespace of their own, so that nothing else can be
// reached and no file of the machine changes.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executeInBackground, inWorkFolder, need, suiteOptions } from "../commands.mjs";
import { writeCloud } from "./cloud.mjs";
import { goSuite } from "./go.mjs";
import { pythonSuite } from "./python.mjs";
import { compared, knownFailures, printed } from "./report.mjs";

const suites = { go: goSuite, python: pythonSuite };
/** Nothing survives its first process. */
const ending = ["--pid", "--fork", "--kill-child"];
const namespaces = ["--user", "--map-root-user", "--mount", "--net", ...ending];
const enter = 'mount --bind "$0" /etc/hosts && ip link set lo up && exec "$@"';

/** Returns whether the results are those of the list. */
export async function runLive(kind, words) {
  const suite = suites[kind];
  const { names: libraries, pattern, folder } = suiteOptions(suite.libraries, words);
  return inWorkFolder(folder, async (work) => {
    need("unshare", [...namespaces, "sh", "-c", "ip link set lo up"]);
    await suite.prepare({ work, libraries });
    await writeCloud(work);
    const resultFile = join(work, `results-${kind}.json`);
    writeFileSync(resultFile, "[]");
    const program = [process.execPath, join(import.meta.dirname, "inside.mjs")];
    const inside = [...program, kind, work, resultFile, pattern, ...libraries];
    const command = [...namespaces, "sh", "-c", enter, join(work, "hosts"), ...inside];
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(work, "ca.pem") };
    const code = await executeInBackground("unshare", command, { stdio: "inherit", env });
    const results = JSON.parse(readFileSync(resultFile, "utf8"));
    const comparison = compared({ failed: knownFailures(kind) }, results, {
      libraries,
      isComplete: pattern === "",
    });
    console.log(printed(results, comparison));
    // The libraries that ran before have results.
    if (code !== 0) throw new Error(`the tests ended with ${code}`);
    return comparison.isAsExpected;
  });
}
