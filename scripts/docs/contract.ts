import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { contract, type Section, type TestReference } from "./contract-guarantees.ts";

const page = "docs/CONTRACT.md";
/** The folder into which `npm run proof` writes the results of its runs. */
const results = "docs/proof";
/** Absolute: the npm package has the page, but no tests and no sources. */
const sources = "https://github.com/etagere/etagere/blob/main";

/** Renders the page from the guarantees and the recorded results of the last run. */
export function contractPage(): string {
  return [
    "# Guarantees and their tests",
    "",
    "Written by `npm run docs`. Each guarantee names the tests that fail if it is violated.",
    "`planted-bugs.ts` lists deliberate faults: a proxy between the clients and a correct server",
    "adds one of them, and the checker of the histories must report it.",
    "",
    ...contract.flatMap(renderSection),
    "## Test runs",
    "",
    "`npm run proof` performs all runs below in about 90 minutes on two cores and writes their",
    `results into this page. Last run: ${recorded("run")}.`,
    "",
    "## Linearizability under faults",
    "",
    "`npm run verify` runs clients in several processes against two server processes on one data",
    "folder. Meanwhile servers and clients are killed and replaced, paused and disconnected, wall",
    "clocks are changed by days, disks are slowed down, and another process commits conflicting",
    "changes. Every call and its response are recorded; a call without a response may or may not",
    "have taken effect. For each blob, entity, lease, directory and file a search looks for one",
    "order of all calls that respects real time and explains every response (linearizability).",
    "Appends, transactions, messages and events are checked against the guarantees above. A",
    "history that violates a guarantee is kept, with its seed.",
    "",
    ...renderResult("verify"),
    ...durability(),
  ].join("\n");
}

function renderSection({ title, guarantees }: Section): readonly string[] {
  const rows = guarantees.map(({ text, tests }) => `| ${text} | ${tests.map(link).join("<br>")} |`);
  return [`## ${title}`, "", "| guarantee | tests |", "|---|---|", ...rows, ""];
}

function link([file, title]: TestReference): string {
  const name = file.split("/").at(-1) ?? file;
  return `[${name}](${sources}/${file}): ${title.replaceAll("|", "\\|")}`;
}

function durability(): readonly string[] {
  return [
    "## Process kills",
    "",
    "`npm run proof -- --only kill` kills all servers of a folder at once, while clients of all",
    "services write, and sometimes while the servers start. After every kill `etagere check`",
    "verifies the folder. Every object must have its last acknowledged state, or the state after",
    "the one request that was running. The counts include each entity of a transaction.",
    "",
    ...renderResult("kill-1", "kill-2"),
    "`npm run proof -- --only workers` kills one of the two workers of a server under the same",
    "load: at first each of them, then one at random. The other worker continues to serve, and the",
    "folder is checked at the end.",
    "",
    ...renderResult("workers"),
    "`npm run proof -- --only events` writes a million blobs of an account with a change feed",
    "and a webhook, to a server with two workers. In turn the server, one worker, and all workers",
    "during a request to the webhook are killed. The feed must equal the commits one to one, in an",
    "order that agrees with real time, and the webhook must have got each event.",
    "",
    ...renderResult("events"),
    "## Power loss",
    "",
    "`npm run proof -- --only power-cut` records every system call with which a server could",
    "change its disk. It replays them to a simulated disk and stops at random points. Then flushed",
    "data and names in flushed folders are present; of all other sectors only a random selection.",
    "The result is checked, served and compared with what had been acknowledged.",
    "",
    ...renderResult("power-cut"),
    "## Soak",
    "",
    "`npm run proof -- --only soak` runs clients of all services for 10 minutes, then deletes",
    "everything. It compares memory, file descriptors, latency and disk space over time.",
    "",
    ...renderResult("soak"),
  ];
}

/** The recorded results of the named runs, as a code block; nothing if there are none. */
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
