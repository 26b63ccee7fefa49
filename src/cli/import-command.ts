import { resolve } from "node:path";
import type { ImportCounts } from "../commands/azurite-import/import-context.ts";
import { AzuriteFolder, markImported } from "../commands/azurite-import/azurite-folder.ts";
import { sourceWarnings } from "../commands/azurite-import/source-checks.ts";
import type { Progress } from "../commands/progress.ts";
import { ImportRefused } from "../host/refused.ts";
import type { ServedAccounts } from "../data/accounts.ts";
import type { Options } from "../server/options.ts";
import { accountsVariable } from "../server/secret-options.ts";
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
      "one transaction: if it fails, no data changes. It fails if a container, queue or " +
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
    const { counts, warnings } = await showProgress({ json }, (progress) =>
      importInto(resolve(folder), options, progress),
    );
    if (!json) for (const each of warnings) process.stderr.write(`etagere: warning: ${each}\n`);
    return { report: { ...counts, warnings }, text: `${describeCounts(counts)}\n` };
  },
});

interface Imported {
  readonly counts: ImportCounts;
  /** Why the data may be incomplete, or is not served. */
  readonly warnings: readonly string[];
}

async function importInto(
  folder: string,
  given: Parameters<typeof checkOptions>[0],
  progress: Progress,
): Promise<Imported> {
  const checked = await checkOptions(given);
  // Before the stores are opened, which creates the data folder.
  const source = new AzuriteFolder(folder);
  const accounts = await configuredAccounts(checked);
  const { importFolder } = await import("../commands/azurite-import/import-folder.ts");
  const { ensureAccounts, refuseProblems } = await import("../data/ensure-accounts.ts");
  return withStores(checked, async (stores, { random, log, clock }) => {
    const found = sourceWarnings(folder, clock.wall());
    // Only these options concern how an account is stored. Without them the import creates the
    // accounts that have data, and no other.
    if (checked.config !== undefined || checked.enableHierarchicalNamespace) {
      await refuseProblems(ensureAccounts(stores.store, accounts, random));
    }
    const imported = await importFolder({ folder: source, stores, random, log, progress });
    await accounts.serveStored(stores.store, log);
    await markImported(locationOf(checked), folder);
    const unserved = imported.accounts.filter((name) => accounts.get(name) === undefined);
    return { counts: imported.counts, warnings: [...found, ...unserved.map(unservedWarning)] };
  });
}

function unservedWarning(account: string): string {
  return (
    `${account} is not configured, and its data is not served: name it in AZURITE_ACCOUNTS or ` +
    `--config of the server, or run etagere account create ${account} --adopt`
  );
}

/** The accounts that a server with the same configuration serves. */
async function configuredAccounts({
  config,
  enableHierarchicalNamespace: hierarchicalNamespace,
}: Options): Promise<ServedAccounts> {
  const { openAccounts } = await import("../data/accounts.ts");
  const variable = await accountsVariable();
  const opened = await openAccounts({ config, hierarchicalNamespace, variable });
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
