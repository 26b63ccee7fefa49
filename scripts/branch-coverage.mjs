// Which branches of the server a program has run, for `npm run simulate -- --coverage`. V8 counts
// how often ranges of the compiled files were run (NODE_V8_COVERAGE). It reports only ranges whose
// count differs from that of the range around them, so that the branches are taken from the syntax.
// A function counts as a branch. An `if` without `else` counts as one branch: whether its condition was ever false is not known.
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { SourceMap } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseAst } from "vite";

const missedShown = 12;
const textCharactersMax = 90;

/** Prints a table of the folders, and the longest parts of each that were not run. `coverage` is
 *  the folder that Node has written, `built` that of the compiled files. */
export function reportCoverage(coverage, built, folders) {
  const counted = countsOf(coverage);
  const rows = folders.map((folder) => {
    const branches = filesBelow(join(built, folder)).flatMap((path) =>
      branchesOf(path, counted.get(pathToFileURL(path).href)),
    );
    return { folder, branches };
  });
  console.log("| folder | branches | run |\n|---|---|---|");
  for (const { folder, branches } of rows) {
    const run = branches.filter(({ isRun }) => isRun).length;
    const share = ((100 * run) / Math.max(1, branches.length)).toFixed(0);
    console.log(`| \`${folder}\` | ${branches.length} | ${run} (${share} %) |`);
  }
  for (const { folder, branches } of rows) {
    console.log(`\n${folder}: not run, longest first`);
    const missed = branches.filter(({ isRun, isInMissed }) => !isRun && !isInMissed);
    const longest = missed.toSorted(byLength).slice(0, missedShown);
    for (const branch of longest) console.log(textOf(branch));
  }
}

/** The functions of each file, by the file's URL: of the process that ran most, because the parent
 *  of a run only loads the files. */
function countsOf(coverage) {
  const sizes = readdirSync(coverage).map((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), "utf8"));
    const ranges = result.flatMap(({ functions }) => functions.flatMap((each) => each.ranges));
    return { result, runs: ranges.reduce((sum, { count }) => sum + count, 0) };
  });
  const [most] = sizes.toSorted((one, other) => other.runs - one.runs);
  return new Map(most?.result.map(({ url, functions }) => [url, functions]));
}

function filesBelow(path) {
  if (!existsSync(path)) throw new Error(`nothing was compiled into ${path}`);
  if (!statSync(path).isDirectory()) return path.endsWith(".js") ? [path] : [];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}

/** A file that was not loaded has no functions: none of its branches was run. */
function branchesOf(path, functions = []) {
  const source = readFileSync(path, "utf8");
  const ranges = functions.flatMap((each) => each.ranges);
  const found = [];
  const visit = (node, isInMissed) => {
    if (node === null || typeof node !== "object") return;
    if (Array.isArray(node)) return node.forEach((each) => visit(each, isInMissed));
    const parts = typeof node.type === "string" ? branchPartsOf(node) : [];
    for (const value of Object.values(node)) {
      const isBranch = parts.includes(value);
      const isRun = isBranch && countAt(ranges, value) > 0;
      if (isBranch) found.push({ path, source, node: value, isRun, isInMissed });
      visit(value, isInMissed || (isBranch && !isRun));
    }
  };
  visit(parseAst(source), false);
  return found;
}

/** The parts of a statement or expression that are run or not. */
function branchPartsOf(node) {
  switch (node.type) {
    case "FunctionDeclaration":
    case "FunctionExpression":
    case "ArrowFunctionExpression":
      return [node.body];
    case "IfStatement":
    case "ConditionalExpression":
      return [node.consequent, node.alternate].filter((part) => part !== null);
    case "LogicalExpression":
      return [node.right];
    case "CatchClause":
      return [node.body];
    case "SwitchCase":
      return node.consequent.length === 0 ? [] : [node.consequent];
    default:
      return [];
  }
}

/** How often the innermost range at the start of a branch was run. */
function countAt(ranges, part) {
  const first = Array.isArray(part) ? part[0] : part;
  const at = first.type === "BlockStatement" ? first.start + 1 : first.start;
  let innermost = { startOffset: -1, endOffset: Infinity, count: 0 };
  for (const range of ranges) {
    const isAround = range.startOffset <= at && at < range.endOffset;
    const length = range.endOffset - range.startOffset;
    if (isAround && length < innermost.endOffset - innermost.startOffset) innermost = range;
  }
  return innermost.count;
}

function spanOf({ node }) {
  return Array.isArray(node) ? [node[0].start, node.at(-1).end] : [node.start, node.end];
}

function byLength(one, other) {
  const [[start, end], [otherStart, otherEnd]] = [spanOf(one), spanOf(other)];
  return otherEnd - otherStart - (end - start);
}

/** Place in the TypeScript file, and the beginning of the text. */
function textOf(branch) {
  const { path, source } = branch;
  const [start, end] = spanOf(branch);
  const before = source.slice(0, start).split("\n");
  const map = new SourceMap(JSON.parse(readFileSync(`${path}.map`, "utf8")));
  const { originalLine = 0 } = map.findEntry(before.length - 1, before.at(-1).length);
  const file = path.slice(path.lastIndexOf("/src/") + 1).replace(/\.js$/, ".ts");
  const text = source.slice(start, end).replaceAll(/\s+/g, " ").slice(0, textCharactersMax);
  return `  ${file}:${originalLine + 1} ${text}`;
}
