import { resolve } from "node:path";
import type { ImportCounts } from "../commands/azurite-import/import-context.ts";
import { markImported } from "../commands/azurite-import/azurite-folder.ts";
import type { Progress } from "../commands/progress.ts";
import { ImportRefused } from "../host/refused.ts";
import type { Accounts } from "../account/settings.ts";
import type { Options } from "../server/options.ts";
import { jsonOption } from "./admin-client.ts";
import { defineCommand } from "./command.ts";
import { showProgress } from "./progress.ts";
import { checkOptions, encryptionOption, locationOf, withStores } from "./with-stores.ts";

/** `etagere import`: takes over the data of Azurite, Microsoft's emulator, from its data folder.
 *  `commands/azurite-import` does the work. */
export const importCommand = defineCommand({
  name: "import",
  summary: "import an Azurite data folder",
  description: [
    "Imports the containers, queues and tables of an Azurite data folder: blobs of all " +
      "types with properties, metadata, tags, leases, snapshots and blocks; messages; " +
      "entities. Stop Azurite first; its folder is not changed. The import is committed in " +
      "one transaction: if it fails, nothing changes. It fails if a container, queue or " +
      "table of the same name exists.",
  ],
  arguments: [
    {
      value: "FOLDER",
      kind: "folder",
      help: "Azurite's data folder: __azurite_db_blob__.json, …",
    },
  ],
  options: {
    location: {
      kind: "folder",
      short: "l",
      value: "FOLDER",
      help: "the data folder to import into; default .etagere",
    },
    config: {
      kind: "file",
      value: "FILE",
      help: "accounts, as for the server: the namespace of accounts that are new",
    },
    enableHierarchicalNamespace: {
      kind: "switch",
      help: "the development account, if it is new, gets directories (Data Lake)",
    },
    store: { kind: "url", value: "URL", help: "records: postgres://…, as for the server" },
    storeFile: { kind: "file", value: "FILE", help: "file that contains the value of --store" },
    content: { kind: "url", value: "URL", help: "contents: s3://…, as for the server" },
    ...encryptionOption,
    ...jsonOption,
  },
  notes: [
    "Last-Modified, Timestamp and ETags of entities are kept. ETags of blobs, and ids and pop " +
      "receipts of messages are new. CORS rules and other service properties are not imported. " +
      "In accounts with a hierarchical namespace, blobs become files in directories; page blobs " +
      "and tags do not exist there, and a folder that has them is refused.",
  ],
  exitCodes: ["everything was imported", "nothing was imported"],
  failure: "nothing was imported",
  example: "etagere import ./azurite --location .etagere",
  run: async ({ words: [folder = ""], options: { json, ...options } }) => {
    const counts = await showProgress({ json }, (progress) =>
      importInto(folder, options, progress),
    );
    return { report: counts, text: `${describeCounts(counts)}\n` };
  },
});

async function importInto(
  folder: string,
  given: Parameters<typeof checkOptions>[0],
  progress: Progress,
): Promise<ImportCounts> {
  const checked = await checkOptions(given);
  const accounts = await configuredAccounts(checked);
  const { importFolder } = await import("../commands/azurite-import/import-folder.ts");
  const { ensureAccounts, refuseProblems } = await import("../data/ensure-accounts.ts");
  return withStores(checked, async (stores, { random, log }) => {
    if (accounts !== undefined) {
      await refuseProblems(ensureAccounts(stores.store, accounts, random));
    }
    const counts = await importFolder({
      folder: resolve(folder),
      stores,
      random,
      log,
      progress,
    });
    await markImported(locationOf(checked), folder);
    return counts;
  });
}

/** The accounts of `--config` and of the development account, which are created before the import;
 *  undefined if no option concerns them. */
async function configuredAccounts(given: Options): Promise<Accounts | undefined> {
  const { config, enableHierarchicalNamespace: hierarchicalNamespace } = given;
  if (config === undefined && !hierarchicalNamespace) return undefined;
  const { openAccounts } = await import("../data/accounts.ts");
  const opened = await openAccounts({ config, hierarchicalNamespace });
  if (!opened.ok) throw new ImportRefused(opened.problems);
  return opened.value;
}

function describeCounts(counts: ImportCounts): string {
  const { containers, blobs, snapshots, uncommittedBlocks, queues, messages, skipped } = counts;
  return [
    `imported ${containers} containers with ${blobs} blobs, ${snapshots} snapshots and ` +
      `${uncommittedBlocks} uncommitted blocks,`,
    `${queues} queues with ${messages} messages, ` +
      `${counts.tables} tables with ${counts.entities} entities`,
    ...(skipped === 0 ? [] : [`skipped ${skipped}: expired messages, or entries without a parent`]),
  ].join("\n");
}
