// `npm run check`: what a machine can judge without running the server. Shows all, not the first.
import { spawnSync } from "node:child_process";
import { ensureInstalled, root, tool } from "./prepare.mjs";

ensureInstalled();
const checks = [
  { name: "types", command: "tsc", words: ["-p", "tsconfig.json", "--noEmit"] },
  { name: "types of the page", command: "tsc", words: ["-p", "ui/tsconfig.json"] },
  { name: "lint", command: "oxlint", words: ["--type-aware", "--deny-warnings", "."] },
  { name: "format", command: "oxfmt", words: ["--check", "."] },
  { name: "tidy", command: "vitest", words: ["run", "tests/tidy.test.ts"] },
];
const failed = checks.filter(({ name, command, words }) => {
  console.log(`\n== ${name}`);
  return spawnSync(tool(command), words, { cwd: root, stdio: "inherit" }).status !== 0;
});
if (failed.length > 0) {
  console.error(`\nfailed: ${failed.map(({ name }) => name).join(", ")}`);
  process.exit(1);
}
