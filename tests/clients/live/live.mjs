// `npm run test:clients -- --go-live|--python-live [LIBRARY …] [--test PATTERN] [--work FOLDER]`:
// runs the live tests of Azure's own libraries, unchanged, against a server in the place of the
// cloud. They run in a network and mount namespace of their own, so that nothing else can be
// reached and no file of the machine changes.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { need } from "../commands.mjs";
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
  const { libraries, pattern, folder } = chosen(suite, words);
  const work = folder ?? mkdtempSync(join(tmpdir(), "etagere-live-"));
  mkdirSync(work, { recursive: true });
  try {
    need("unshare", [...namespaces, "sh", "-c", "ip link set lo up"]);
    await suite.prepare({ work, libraries });
    await writeCloud(work);
    const resultFile = join(work, `results-${kind}.json`);
    writeFileSync(resultFile, "[]");
    const program = [process.execPath, join(import.meta.dirname, "inside.mjs")];
    const inside = [...program, kind, work, resultFile, pattern, ...libraries];
    const command = [...namespaces, "sh", "-c", enter, join(work, "hosts"), ...inside];
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(work, "ca.pem") };
    const { status } = spawnSync("unshare", command, { stdio: "inherit", env });
    if (status !== 0) throw new Error(`the tests ended with ${status}`);
    const results = JSON.parse(readFileSync(resultFile, "utf8"));
    const comparison = compared(knownFailures(kind), results, {
      libraries,
      isComplete: pattern === "",
    });
    console.log(printed(results, comparison));
    return comparison.isAsExpected;
  } finally {
    if (folder === undefined) rmSync(work, { recursive: true, force: true });
  }
}

function chosen(suite, words) {
  const libraries = [];
  let pattern = "";
  let folder;
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index];
    if (word === "--test") pattern = words[(index += 1)] ?? "";
    else if (word === "--work") folder = resolve(words[(index += 1)] ?? "");
    else if (suite.libraries.includes(word)) libraries.push(word);
    else throw new Error(`no library "${word}"; there are ${suite.libraries.join(", ")}`);
  }
  return { libraries: libraries.length > 0 ? libraries : suite.libraries, pattern, folder };
}
