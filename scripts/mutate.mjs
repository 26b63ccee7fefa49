// `npm run mutate`: changes decision functions one operator at a time, and runs the unit tests that
// must notice it. A change that no test notices (a survivor) is printed.
//   npm run mutate                                 all targets
//   npm run mutate -- lease conditions             files whose names contain one of these
//   npm run mutate -- lease --most 40              at most so many changes of each file, evenly spread
// The changes are made in a copy of the checkout, so that none can stay behind.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { parseAst } from "vite";
import { ensureInstalled, root } from "./prepare.mjs";

/** Files with decisions, and the tests that describe them. */
const targets = {
  "src/protocol/conditions.ts": ["src/protocol", "src/blob/write-decisions.test.ts"],
  "src/protocol/lease.ts": ["src/protocol", "src/blob/write-decisions.test.ts"],
  "src/protocol/ranges.ts": ["src/protocol"],
  "src/protocol/posix-access.ts": ["src/protocol"],
  "src/file/locks/byte-ranges.ts": ["src/file/locks"],
  "src/file/locks/opens.ts": ["src/file/locks", "src/file"],
  "src/file/locks/rest-access.ts": ["src/file/locks", "src/file"],
  "src/table/entity/change-entity.ts": ["src/table/entity-decisions.test.ts", "src/table"],
  "src/queue/message/messages.ts": ["src/queue"],
  "src/store/attempt.ts": ["src/store"],
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
const secondsMax = 60;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { most: { type: "string", default: "10000" } },
});
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
for (const [path, tests] of Object.entries(targets)) if (isChosen(path)) mutate(path, tests);
rmSync(copy, { recursive: true, force: true });

function mutate(path, tests) {
  const file = join(copy, path);
  const source = readFileSync(file, "utf8");
  if (!passes(tests)) throw new Error(`${path}: its tests fail without a change`);
  const all = changesIn(source);
  const step = Math.max(1, all.length / Number(values.most));
  const chosen = all.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
  const survivors = chosen.filter(({ start, end, text }) => {
    writeFileSync(file, source.slice(0, start) + text + source.slice(end));
    return passes(tests);
  });
  writeFileSync(file, source);
  const noticed = chosen.length - survivors.length;
  console.log(`${path}: ${noticed} of ${chosen.length} changes noticed (${all.length} possible)`);
  for (const { start, end, text } of survivors) {
    const line = source.slice(0, start).split("\n").length;
    console.log(`  line ${line}: ${source.slice(start, end)} -> ${text}`);
  }
}

/** A test that does not end has noticed the change, too. */
function passes(tests) {
  const words = ["run", "--bail=1", "--reporter=dot", ...tests];
  const options = { cwd: copy, stdio: "ignore", timeout: secondsMax * 1000 };
  return spawnSync(join(root, "node_modules", ".bin", "vitest"), words, options).status === 0;
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
