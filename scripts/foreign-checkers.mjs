// `npm run verify -- --foreign`: records a history under faults, and checks it with our checkers
// and with two that share nothing with them: Porcupine (Go) and a search for cycles (Python).
//   -- --foreign --seconds 600      with other options of `npm run verify`, which records
//   -- --foreign --folder FOLDER    checks stored histories instead (docs/HISTORY-FORMAT.md)
//   -- --foreign --planted          records each planted bug; two checkers must find each
//   -- --foreign --cluster          the same on a cluster in network namespaces
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ensureBuilt, ensureInstalled, root, run, tool } from "./prepare.mjs";

const built = join(root, ".build", "verify");
const sources = join(root, "tests", "checkers");
const checkersMin = 2;
const firstCharactersMax = 300;
const outputBytesMax = 256 * 1024 * 1024;
/** After which a checker gives up on one key. */
const keySeconds = 60;

const words = process.argv.slice(2).filter((word) => word !== "--foreign");
const isPlanted = words.includes("--planted");
const at = words.indexOf("--folder");
const folder = at < 0 ? mkdtempSync(join(tmpdir(), "etagere-histories-")) : resolve(words[at + 1]);

ensureInstalled();
ensureBuilt();
if (at < 0) record();
const verdicts = collect();
const isRight = isPlanted ? showPlanted() : showAll();
if (at < 0 && isRight) rmSync(folder, { recursive: true, force: true });
else console.log(`\nhistories: ${folder}`);
process.exit(isRight ? 0 : 1);

function record() {
  if (!isPlanted || words.includes("--cluster")) {
    const seconds = words.includes("--seconds") ? [] : ["--seconds", "40"];
    run(process.execPath, ["scripts/verify.mjs", ...words, ...seconds, "--histories", folder]);
    return;
  }
  compile();
  const rest = words.filter((word) => word !== "--planted");
  run(process.execPath, [ourProgram(), "--planted", folder, ...rest]);
}

function compile() {
  rmSync(built, { recursive: true, force: true });
  run(tool("tsc"), ["-p", "tsconfig.verify.json"]);
  // A server in the same process reads its version there.
  copyFileSync(join(root, "package.json"), join(built, "package.json"));
}

function ourProgram() {
  return join(built, "tests", "verify", "histories-main.js");
}

/** The verdicts of each checker by file and workload. */
function collect() {
  if (!isPlanted || at >= 0) compile();
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  if (files.length === 0) fail(`no history in ${folder}`);
  const paths = files.map((name) => join(folder, name));
  const program = join(root, ".build", "checkers", "porcupine");
  mkdirSync(join(root, ".build", "checkers"), { recursive: true });
  check("go", ["build", "-o", program, "."], join(sources, "porcupine"));
  testCheckers();
  const found = new Map();
  const add = (checker, lines) => {
    for (const line of lines) {
      const key = `${line.file}\n${line.workload}`;
      found.set(key, { ...found.get(key), [checker]: line });
    }
  };
  add("ours", check(process.execPath, [ourProgram(), "--judge", folder], root));
  add("porcupine", check(program, [`-timeout=${keySeconds}s`, ...paths], root));
  add("cycles", check("python3", ["-B", "check_cycles.py", ...paths], join(sources, "cycles")));
  return found;
}

/** Their own examples: a checker that finds nothing could be broken. */
function testCheckers() {
  run("go", ["test", "."], { cwd: join(sources, "porcupine") });
  run("python3", ["-B", "-m", "unittest", "-q"], { cwd: join(sources, "cycles") });
}

/** The JSON lines of a checker, which ends with 1 if it found a violation. */
function check(command, given, cwd) {
  const options = { cwd, encoding: "utf8", maxBuffer: outputBytesMax };
  const { status, error, stdout, stderr } = spawnSync(command, given, options);
  if (error !== undefined) fail(`${command}: ${error.message}`);
  if (status !== 0 && (status !== 1 || stdout === "")) fail(`${command}: ${stderr}`);
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
}

function fail(text) {
  console.error(text);
  process.exit(2);
}

/** Whether all checkers that judge a workload say the same. */
function showAll() {
  const counts = { agree: 0, disagree: 0, alone: 0, violations: 0 };
  const rows = [...verdicts].map(([key, by]) => {
    const [file, workload] = key.split("\n");
    const said = [by.ours, by.porcupine, by.cycles].map((one) => one?.verdict ?? "-");
    const decided = said.filter((one) => one !== "-" && one !== "undecided");
    const isOne = new Set(decided).size === 1;
    if (!isOne) counts.disagree += 1;
    else if (decided.length < checkersMin) counts.alone += 1;
    else counts.agree += 1;
    if (decided.includes("violation")) counts.violations += 1;
    return [file, workload, ...said, isOne ? "" : "DISAGREE"];
  });
  show([["history", "workload", "ours", "porcupine", "cycles", ""], ...rows]);
  for (const by of verdicts.values()) {
    for (const [checker, { verdict, file, workload, first }] of Object.entries(by)) {
      if (verdict === "ok") continue;
      console.log(`${checker}: ${file}, ${workload}: ${first.slice(0, firstCharactersMax)}`);
    }
  }
  const { agree, disagree, alone, violations } = counts;
  console.log(`\n${agree} verdicts agree, ${disagree} do not, ${alone} are of one checker alone`);
  console.log(violations === 0 ? "no violation" : `${violations} VIOLATIONS`);
  return disagree === 0 && violations === 0;
}

/** Whether each planted bug is found by several checkers, and nothing without one. */
function showPlanted() {
  const bugs = new Map();
  for (const [key, by] of verdicts) {
    const [file, workload] = key.split("\n");
    const { planted, source } = JSON.parse(
      readFileSync(join(folder, file), "utf8").split("\n", 1)[0],
    );
    // A bug of a cluster shows in one workload or another.
    const name = `${source === "cluster" ? source : workload}\n${planted ?? "none"}`;
    const before = bugs.get(name) ?? {};
    for (const [checker, { verdict }] of Object.entries(by)) {
      before[checker] = [...(before[checker] ?? []), verdict];
    }
    bugs.set(name, before);
  }
  let isGood = true;
  const rows = [...bugs.keys()]
    .toSorted((a, b) => a.localeCompare(b))
    .map((name) => {
      const by = bugs.get(name);
      const said = [by.ours, by.porcupine, by.cycles];
      const finders = said.filter((one) => one?.includes("violation")).length;
      const isFine = name.endsWith("\nnone") ? finders === 0 : finders >= checkersMin;
      if (!isFine) isGood = false;
      const cells = said.map((one) => {
        if (one === undefined) return "-";
        return `${one.filter((verdict) => verdict === "violation").length} of ${one.length}`;
      });
      return [...name.split("\n"), ...cells, isFine ? "" : "WRONG"];
    });
  show([["workload", "planted bug", "ours", "porcupine", "cycles", ""], ...rows]);
  console.log(isGood ? "\neach bug is found by two checkers" : "\nA BUG IS NOT FOUND BY TWO");
  return isGood;
}

function show(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)));
  for (const row of rows) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    );
  }
}
