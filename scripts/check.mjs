// `npm run check`: static checks; all of them run, also after one has failed.
//   -- --fix               formats the files first
//   -- --only types,lint   some of the checks
import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { ensureInstalled, root, tool } from "./prepare.mjs";
import { orUsage } from "./script-options.mjs";

const checks = [
  { name: "types", command: "tsc", words: ["-p", "tsconfig.json", "--noEmit"] },
  { name: "ui-types", command: "tsc", words: ["-p", "ui/tsconfig.json"] },
  { name: "lint", command: "oxlint", words: ["--type-aware", "--deny-warnings", "."] },
  { name: "format", command: "oxfmt", words: ["--check", "."] },
  {
    name: "tidy",
    command: "vitest",
    words: ["run", "tests/tidy.test.ts", "tests/unused-code.test.ts", "tests/module-state.test.ts"],
  },
];
const { values } = orUsage(import.meta.url, () =>
  parseArgs({
    options: { fix: { type: "boolean", default: false }, only: { type: "string" } },
  }),
);
const names = checks.map(({ name }) => name);
const chosen = values.only?.split(",") ?? names;
const unknown = chosen.find((name) => !names.includes(name));
if (unknown !== undefined) {
  console.error(`--only: no check "${unknown}"; there are ${names.join(", ")}`);
  process.exit(2);
}
ensureInstalled();
if (values.fix) runTool("oxfmt", ["."]);
const failed = chosen.filter((chosenName) => {
  const { name, command, words } = checks.find((check) => check.name === chosenName);
  console.log(`\n== ${name}`);
  return !runTool(command, words);
});
if (failed.length > 0) {
  console.error(`\nfailed: ${failed.join(", ")}`);
  process.exit(1);
}

/** Whether the tool succeeded. */
function runTool(command, words) {
  return spawnSync(tool(command), words, { cwd: root, stdio: "inherit" }).status === 0;
}
