// `npm run mutate`: changes decision functions one operator at a time, and runs the unit tests that
// must notice it. A change that no test notices (a survivor) is printed.
//   npm run mutate                                 all targets
//   npm run mutate -- lease conditions             files whose names contain one of these
//   npm run mutate -- lease --most 40              at most so many changes of each file, evenly spread
//   npm run mutate -- committer --seconds 25       tests that take longer have noticed the change
//   npm run mutate -- lease --lines 90,131         only changes of these lines
// The changes are made in a copy of the checkout, so that none can stay behind.
import { fork } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parseAst } from "vite";
import { ensureInstalled, root } from "./prepare.mjs";
import { orUsage } from "./script-options.mjs";

/** Tests of the whole server that describe what clients see of decisions about blobs. */
const blobTests = [
  "src/blob/write-decisions.test.ts",
  "src/blob/blob-policy.test.ts",
  "tests/contract/blob-append-page.test.ts",
  "tests/contract/blob-behaviour.test.ts",
  "tests/contract/blob-block-list.test.ts",
  "tests/contract/blob-body-checks.test.ts",
  "tests/contract/blob-encryption.test.ts",
  "tests/contract/blob-facts.test.ts",
  "tests/contract/blob-facts-refused.test.ts",
  "tests/contract/uncommitted-delete.test.ts",
  "tests/contract/uncommitted-lease.test.ts",
];
const lockTests = ["src/file/locks", "src/file/filesystem", "src/file/file-operation.test.ts"];
const queueTests = ["src/queue", "tests/contract/queue-life", "tests/contract/queue-messages"];
const tableTests = ["src/table", "tests/contract/table-behaviour.test.ts"];
const storeTests = [
  "src/store/attempt.test.ts",
  "src/store/batch-changes.test.ts",
  "src/store/queued-transaction.test.ts",
  "src/store/committer.test.ts",
  "src/store/batch-delay.test.ts",
  "src/store/full-batches.test.ts",
  "src/store/head-read-order.test.ts",
  "src/store/interleaving.test.ts",
  "src/store/single-transaction.test.ts",
  "src/store/memory",
];
/** Files with decisions, and the tests that describe them. */
const targets = {
  "src/protocol/conditions.ts": ["src/protocol", "src/blob/write-decisions.test.ts"],
  "src/protocol/lease.ts": ["src/protocol/lease", "src/blob/lease-decisions.test.ts"],
  "src/protocol/ranges.ts": ["src/protocol/ranges.test.ts"],
  "src/protocol/posix-access.ts": ["src/protocol/posix"],
  "src/file/locks/access.ts": lockTests,
  "src/file/locks/byte-ranges.ts": lockTests,
  "src/file/locks/caching.ts": lockTests,
  "src/file/locks/file-access.ts": lockTests,
  "src/file/locks/lock-state.ts": lockTests,
  "src/file/locks/opens.ts": lockTests,
  "src/file/locks/rest-access.ts": lockTests,
  "src/queue/message/messages.ts": queueTests,
  "src/queue/message/message-id.ts": queueTests,
  "src/queue/message/stored-messages.ts": queueTests,
  "src/table/entity/change-entity.ts": tableTests,
  "src/table/entity/entity-input.ts": tableTests,
  "src/store/attempt.ts": storeTests,
  "src/store/committer.ts": storeTests,
  "src/store/write-set.ts": storeTests,
  "src/blob/append/append-block.ts": blobTests,
  "src/blob/block/put-block-list.ts": blobTests,
  "src/blob/page/put-page.ts": blobTests,
  "src/blob/shared/create-blob.ts": blobTests,
  "src/blob/shared/overwrite.ts": blobTests,
};
const replacements = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "??": "&&",
};

const { values, positionals } = orUsage(import.meta.url, () =>
  parseArgs({
    allowPositionals: true,
    options: {
      most: { type: "string", default: "10000" },
      seconds: { type: "string", default: "60" },
      lines: { type: "string" },
    },
  }),
);
const lines = values.lines?.split(",").map(Number);
ensureInstalled();
const copy = join(root, ".build", "mutate");
rmSync(copy, { recursive: true, force: true });
mkdirSync(copy, { recursive: true });
for (const name of ["src", "tests", "package.json", "tsconfig.json", "vitest.config.ts"]) {
  cpSync(join(root, name), join(copy, name), { recursive: true });
}
symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
const isChosen = (path) =>
  positionals.length === 0 || positionals.some((word) => path.includes(word));
let runner;
for (const [path, tests] of Object.entries(targets)) if (isChosen(path)) await mutate(path, tests);
rmSync(copy, { recursive: true, force: true });

async function mutate(path, tests) {
  const file = join(copy, path);
  const source = readFileSync(file, "utf8");
  if (!(await passes(file, tests))) throw new Error(`${path}: its tests fail without a change`);
  const lineAt = (index) => source.slice(0, index).split("\n").length;
  const all = changesIn(source).filter(
    ({ start }) => lines === undefined || lines.includes(lineAt(start)),
  );
  const step = Math.max(1, all.length / Number(values.most));
  const chosen = all.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
  const survivors = [];
  for (const change of chosen) {
    const { start, end, text } = change;
    writeFileSync(file, source.slice(0, start) + text + source.slice(end));
    if (await passes(file, tests)) survivors.push(change);
  }
  writeFileSync(file, source);
  await endRunner();
  const noticed = chosen.length - survivors.length;
  console.log(`${path}: ${noticed} of ${chosen.length} changes noticed (${all.length} possible)`);
  for (const { start, end, text } of survivors) {
    console.log(`  line ${lineAt(start)}: ${source.slice(start, end)} -> ${text}`);
  }
}

/** A test that does not end has noticed the change, too. */
async function passes(file, tests) {
  runner ??= fork(join(import.meta.dirname, "mutate-runner.mjs"), [], {
    cwd: copy,
    detached: true,
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  runner.send({ file, tests });
  const signal = AbortSignal.timeout(Number(values.seconds) * 1000);
  const [passed] = await once(runner, "message", { signal }).catch(() => [undefined]);
  if (passed === undefined) await endRunner();
  return passed === true;
}

/** With its worker, which may be in an endless loop. */
async function endRunner() {
  if (runner === undefined) return;
  const exited = once(runner, "exit");
  process.kill(-runner.pid, "SIGKILL");
  await exited;
  runner = undefined;
}

/** Every place with another operator, a negated condition or the other truth value. */
function changesIn(source) {
  const changes = [];
  const negate = ({ start, end }) =>
    changes.push({ start, end, text: `!(${source.slice(start, end)})` });
  const visit = (node) => {
    if (node === null || typeof node !== "object") return;
    if (Array.isArray(node)) return node.forEach(visit);
    const { type, operator, left, right } = node;
    if (type === "BinaryExpression" || type === "LogicalExpression") {
      const text = replacements[operator];
      const start = left.end + source.slice(left.end, right.start).indexOf(operator);
      if (text !== undefined) changes.push({ start, end: start + operator.length, text });
    }
    if (type === "IfStatement" || type === "ConditionalExpression") negate(node.test);
    if (type === "Literal" && typeof node.value === "boolean") {
      changes.push({ start: node.start, end: node.end, text: String(!node.value) });
    }
    // Types decide nothing; `x as T` and `x!` contain expressions.
    const isType = type?.startsWith("TS") && !/^TS(As|NonNull|Satisfies)Expression$/.test(type);
    if (!isType) Object.values(node).forEach(visit);
  };
  visit(parseAst(source, { lang: "ts" }).body);
  return changes.toSorted((a, b) => a.start - b.start);
}
