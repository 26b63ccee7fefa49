import { resolve } from "node:path";
import { defaultLocation } from "../server/flags.ts";
import { messageOf, StartRefused } from "../host/start-refused.ts";
import { adminTokenOf, callAdmin, findServer, NoServer } from "./admin-client.ts";
import { parseCliArguments } from "./parse-cli-arguments.ts";
import { quietLog } from "./with-stores.ts";
import { usageError, type Subcommand } from "./subcommand.ts";

export const snapshotCommand: Subcommand = {
  name: "snapshot",
  usage: "save|restore|list|delete [NAME] [--location FOLDER | --url URL]",
  summary: "save and restore the complete state of all accounts",
  help: [
    "Saves the complete state of all accounts under a name, and returns to it. Works on a running",
    "server, or on the data folder of a stopped one. A restore takes time in proportion to what",
    "has changed since; it discards all later changes, and closes SMB handles.",
    "",
    "  save NAME      NAME: 1 to 64 letters, digits, dots, underscores and hyphens",
    "  restore NAME   can be repeated; other snapshots stay valid",
    "  list           all snapshots, oldest first",
    "  delete NAME    frees the space of what only this snapshot contains",
    "",
    "  -l, --location FOLDER   the server that uses this data folder, or the folder (.etagere)",
    "      --url URL           address of the admin listener, for example http://127.0.0.1:10010",
    "      --tokenFile FILE    file with the admin token, or the variable ETAGERE_ADMIN_TOKEN; not",
    "                          needed if the data folder is readable",
    "      --json              print JSON",
    "",
    "exit code: 0 done, 1 not done",
    "example:   etagere snapshot save base",
  ],
  run,
};

const options = {
  url: { type: "string" },
  location: { type: "string", short: "l" },
  tokenFile: { type: "string" },
  json: { type: "boolean" },
} as const;

const actions = ["save", "restore", "list", "delete"] as const;

interface SnapshotAction {
  readonly action: (typeof actions)[number];
  readonly name: string;
}

interface ListedSnapshot {
  readonly name: string;
  readonly savedAt: string;
}

async function run(words: readonly string[]): Promise<number> {
  const read = parseCliArguments(words, options);
  const does = read.ok ? actionOf(read.others) : read;
  const isTwofold = read.ok && read.texts.has("url") && read.texts.has("location");
  if (!read.ok || "problem" in does || isTwofold) {
    const problem = "problem" in does ? does.problem : "--url contradicts --location";
    process.stderr.write(usageError(snapshotCommand, problem));
    return 1;
  }
  try {
    const found = await perform(does, read.texts);
    process.stdout.write(read.switches.has("json") ? jsonOf(does, found) : textOf(does, found));
    return 0;
  } catch (error) {
    const problems = error instanceof StartRefused ? error.problems : [messageOf(error)];
    for (const problem of problems) process.stderr.write(`etagere: ${problem}\n`);
    return 1;
  }
}

function actionOf(words: readonly string[]): SnapshotAction | { readonly problem: string } {
  const [word = "", name = "", ...rest] = words;
  const action = actions.find((each) => each === word);
  if (action === undefined) return { problem: `must be followed by ${actions.join(", ")}` };
  if (action === "list" && name !== "") return { problem: "list takes no further words" };
  const isNamed = name !== "" && rest.length === 0;
  if (action === "list" || isNamed) return { action, name };
  return { problem: `${action} takes the name of a snapshot` };
}

/** Uses the server of the location if one responds, else the folder itself: its store may be opened
 *  by several processes, so a server that starts meanwhile does no harm. */
async function perform(
  does: SnapshotAction,
  texts: ReadonlyMap<string, string>,
): Promise<readonly ListedSnapshot[]> {
  const [url, location] = [texts.get("url"), texts.get("location")];
  const found = url === undefined ? await findServer(location) : { url };
  const given = await adminTokenOf({ tokenFile: texts.get("tokenFile") });
  if (found === undefined) return onFolder(does, location ?? defaultLocation);
  try {
    const token = given ?? ("token" in found ? found.token : undefined);
    return await onServer(does, { ...found, token });
  } catch (error) {
    if (!(error instanceof NoServer) || url !== undefined) throw error;
    return onFolder(does, location ?? defaultLocation);
  }
}

async function onServer(
  { action, name }: SnapshotAction,
  server: Parameters<typeof callAdmin>[0],
): Promise<readonly ListedSnapshot[]> {
  const path = "/admin/v1/snapshots";
  const named = `${path}/${encodeURIComponent(name)}`;
  if (action === "list") {
    const listed = await callAdmin(server, { method: "GET", path });
    return (listed as { readonly snapshots: readonly ListedSnapshot[] }).snapshots;
  }
  if (action === "save") await callAdmin(server, { method: "POST", path, body: { name } });
  else if (action === "delete") await callAdmin(server, { method: "DELETE", path: named });
  else await callAdmin(server, { method: "POST", path: `${named}/restore`, body: {} });
  return [];
}

/** Loads the modules of the store only if no server responds. */
async function onFolder(
  { action, name }: SnapshotAction,
  location: string,
): Promise<readonly ListedSnapshot[]> {
  const { snapshotsOfFolder } = await import("../controls/server-snapshots.ts");
  const folder = await snapshotsOfFolder(resolve(location), quietLog);
  const { snapshots } = folder;
  try {
    if (action === "list") return snapshots.list();
    await snapshots[action](name);
    return [];
  } finally {
    await folder.close();
  }
}

function jsonOf({ action, name }: SnapshotAction, found: readonly ListedSnapshot[]): string {
  return `${JSON.stringify(action === "list" ? { snapshots: found } : { [action]: name })}\n`;
}

function textOf({ action, name }: SnapshotAction, found: readonly ListedSnapshot[]): string {
  if (action === "list") return found.map((each) => `${each.savedAt}  ${each.name}\n`).join("");
  const done = { save: "saved", restore: "restored", delete: "deleted" }[action];
  return `${name}: ${done}\n`;
}
