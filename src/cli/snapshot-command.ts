import { resolve } from "node:path";
import { defaultLocation } from "../server/flags.ts";
import {
  addressOptions,
  callAdmin,
  jsonOption,
  onServerOrStore,
  type ServerAddress,
} from "./admin-client.ts";
import { defineCommand, type Argument } from "./command.ts";
import { encryptionOption, withFolder } from "./with-stores.ts";

const nameWord: Argument = { value: "NAME", kind: "name" };

/** `etagere snapshot`: saves, restores, lists and deletes states of all accounts, for tests that
 *  need the same data again and again. Calls the server if one runs, else opens the data folder. */
export const snapshotCommand = defineCommand({
  name: "snapshot",
  summary: "save and restore the complete state of all accounts",
  description: [
    "Saves the complete state of all accounts under a name, and returns to it. Works on a " +
      "running server, or on the data folder of a stopped one. A restore takes time in " +
      "proportion to what has changed since; it discards all later changes, and closes SMB " +
      "handles.",
  ],
  actions: {
    save: {
      arguments: [nameWord],
      help: "NAME: 1 to 64 letters, digits, dots, underscores and hyphens",
    },
    restore: { arguments: [nameWord], help: "can be repeated; other snapshots stay valid" },
    list: { arguments: [], help: "all snapshots, oldest first" },
    delete: { arguments: [nameWord], help: "frees the space of what only this snapshot contains" },
  },
  options: { ...addressOptions, ...encryptionOption, ...jsonOption },
  exitCodes: ["done", "not done"],
  example: "etagere snapshot save base",
  run: async ({ action, words: [named = ""], options }) => {
    const does = { action, name: named };
    const found = await onServerOrStore(options, {
      onServer: (server) => onServer(does, server),
      onStore: () => onFolder(does, options),
    });
    const report = action === "list" ? { snapshots: found } : { [action]: named };
    return { report, text: textOf(does, found) };
  },
});

interface SnapshotAction {
  readonly action: "save" | "restore" | "list" | "delete";
  readonly name: string;
}

interface ListedSnapshot {
  readonly name: string;
  readonly savedAt: string;
}

async function onServer(
  { action, name }: SnapshotAction,
  server: ServerAddress,
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

/** Runs the action on the data folder. Loads the modules of the store, which is not necessary if a
 *  server responds. After a restore the next server adds the records of configured accounts that
 *  the snapshot lacks. */
async function onFolder(
  { action, name }: SnapshotAction,
  { location = defaultLocation, encryption }: Parameters<typeof withFolder>[0],
): Promise<readonly ListedSnapshot[]> {
  const { ServerSnapshots } = await import("../controls/server-snapshots.ts");
  return withFolder({ location: resolve(location), encryption }, async ({ store }, world) => {
    const onRestored = () => Promise.resolve();
    const snapshots = new ServerSnapshots({ ...world, store, onRestored });
    if (action === "list") return snapshots.list();
    await snapshots[action](name);
    return [];
  });
}

function textOf({ action, name }: SnapshotAction, found: readonly ListedSnapshot[]): string {
  if (action === "list") return found.map((each) => `${each.savedAt}  ${each.name}\n`).join("");
  const done = { save: "saved", restore: "restored", delete: "deleted" }[action];
  return `${name}: ${done}\n`;
}
