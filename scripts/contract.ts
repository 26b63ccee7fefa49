import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { contract, type Held, type Section } from "./contract-promises.ts";

const page = "docs/CONTRACT.md";
/** What `npm run proof` has written down of its runs. */
const results = "docs/proof";

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
    "## The runs below",
    "",
    "`npm run proof` makes them all, in about 75 minutes on two cores, and writes their figures",
    `here. The last time: ${recorded("run")}.`,
    "",
    "## Histories under faults",
    "",
    "`npm run verify` runs clients in several processes against two server processes on one data",
    "folder, while servers and clients are killed and replaced, paused and cut off, their wall",
    "clocks moved by days, their disks slow, and somebody else gets in the way of their commits.",
    "Every call and its answer is recorded; a call without an answer may have happened or not.",
    "For each blob, entity, lease, directory and file a search looks for one order of all calls",
    "that respects real time and explains every answer (linearizability); appends, transactions",
    "and messages are held to what is said of them above. A history that breaks a promise is",
    "kept, with its seed.",
    "",
    ...renderResult("verify"),
    ...durability(),
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

function durability(): readonly string[] {
  return [
    "## Kills",
    "",
    "`npm run proof -- --only kill` kills all servers of a folder at once, in the midst of the",
    "writes of clients of all services, now and then also while they start. After every kill",
    "`etagere check` looks at everything in the folder, and every object must be what was last",
    "acknowledged, or what the one request after that makes of it. A transaction counts each",
    "of its entities.",
    "",
    ...renderResult("kill-1", "kill-2"),
    "## Losses of power",
    "",
    "`npm run proof -- --only power-cut` writes down every call of a server that could reach its",
    "disk, plays them to a disk that promises no more than it must (what was synced, and the names",
    "in folders that were synced), and cuts the power at random places: of everything else some",
    "sectors are there and some are not. What is left is checked, served and held to what had been",
    "acknowledged.",
    "",
    ...renderResult("power-cut"),
    "## Soak",
    "",
    "`npm run proof -- --only soak` lets clients of all services work for ten minutes, then",
    "deletes everything.",
    "",
    ...renderResult("soak"),
  ];
}

/** Of the last run that was recorded. */
function renderResult(...names: readonly string[]): readonly string[] {
  const texts = names.map(recorded).filter((text) => text !== "");
  return texts.length === 0 ? [] : ["```", texts.join("\n\n"), "```", ""];
}

function recorded(name: string): string {
  const path = `${results}/${name}.txt`;
  return existsSync(path) ? readFileSync(path, "utf8").trim() : "";
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(page, contractPage());
}
