import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { contract, type Held, type Section } from "./contract-promises.ts";

const path = "docs/CONTRACT.md";
/** What the last long run of `npm run verify -- --record` printed. */
const lastRun = "docs/verify-result.txt";

/** The page as the promises and the last run have it now. */
export function contractPage(): string {
  return [
    "# The contract, and what holds it",
    "",
    "Written by `npm run docs`. Every promise names the tests that fail when it is broken. Those",
    "in `planted-bugs.ts` are bugs that are put between clients and a server that is right, to see",
    "that the checker notices.",
    "",
    ...contract.flatMap(renderSection),
    "## Histories under faults",
    "",
    "`npm run verify` runs clients in several processes against two server processes on one data",
    "folder, while servers and clients are killed and replaced, paused, cut off and their wall",
    "clocks moved by days. Every call and its answer is recorded; a call without an answer may",
    "have happened or not. For each blob, entity, lease and directory a search looks for one order",
    "of all calls that respects real time and explains every answer (linearizability); appends,",
    "transactions and messages are held to what is said of them above. A history that breaks a",
    "promise is kept, with its seed.",
    "",
    ...renderLastRun(),
  ].join("\n");
}

function renderSection({ title, promises }: Section): readonly string[] {
  const rows = promises.map(
    ({ promise, tests }) => `| ${promise} | ${tests.map(link).join("<br>")} |`,
  );
  return [`## ${title}`, "", "| promise | tests |", "|---|---|", ...rows, ""];
}

function link([file, title]: Held): string {
  const name = file.split("/").at(-1) ?? file;
  return `[${name}](../${file}): ${title.replaceAll("|", "\\|")}`;
}

function renderLastRun(): readonly string[] {
  if (!existsSync(lastRun)) return [];
  const text = readFileSync(lastRun, "utf8").trim();
  return ["The last recorded run:", "", "```", text, "```", ""];
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(path, contractPage());
}
