import { isConfigurableName } from "../../account/parse-settings.ts";
import type { ContainerRecord } from "../../blob/records.ts";
import { checkContainerName, checkQueueName, checkTableName } from "../../protocol/names.ts";
import type { Log, Random } from "../../base/world.ts";
import type { DataStores } from "../data-stores.ts";
import { AzuriteFolder, holdsAzuriteData } from "./azurite-folder.ts";
import { checkHierarchy } from "./check-hierarchy.ts";
import { fieldsOf, leaseOf, metadataOf, policiesOf } from "./document-fields.ts";
import { requiredText, ticksOf, type Fields } from "./document-fields.ts";
import { importBlobs } from "./import-blobs.ts";
import { noCounts, type ImportContext, type ImportCounts } from "./import-context.ts";
import { importEntities } from "./import-entities.ts";
import { importMessages } from "./import-messages.ts";
import { ImportRefused } from "./import-refused.ts";
import { StagedResources } from "./staged-resources.ts";

export interface ImportOptions {
  /** An Azurite data folder; Azurite must be stopped. */
  readonly folder: string;
  readonly engines: Pick<DataStores, "store" | "content">;
  readonly random: Random;
  readonly log: Log;
}

/**
 * Imports an Azurite data folder. Everything becomes visible in one transaction at the end; an
 * import that fails or is killed changes nothing visible. It fails if a container, queue or table
 * of the same name exists.
 */
export async function importFolder(options: ImportOptions): Promise<ImportCounts> {
  const { folder, engines, random, log } = options;
  if (!holdsAzuriteData(folder)) {
    throw new ImportRefused([`${folder}: no Azurite data (__azurite_db_*.json) found`]);
  }
  const staged = new StagedResources(engines, random);
  const source = new AzuriteFolder(folder);
  const context: ImportContext = { folder: source, engines, random, staged, counts: noCounts() };
  await stageContainers(context);
  await stageQueues(context);
  await stageTables(context);
  await staged.begin();
  try {
    await checkHierarchy(context);
    await importBlobs(context);
    await importMessages(context);
    await importEntities(context);
    await staged.publish();
  } catch (error) {
    await staged.abandon().catch((failure: unknown) => {
      log.warn(
        { err: failure },
        "contents of failed import are kept; a job deletes them after 1 day",
      );
    });
    throw error;
  }
  return context.counts;
}

async function stageContainers({ folder, engines, staged, counts }: ImportContext): Promise<void> {
  const now = await engines.store.snapshot((view) => Promise.resolve(view.now));
  const all = folder.documents("blob", (name) => name === "$CONTAINERS_COLLECTION$");
  for await (const { fields } of all) {
    const { account, name } = namesIn(fields, "accountName", "name");
    refuseInvalid("container", name, checkContainerName(name).ok);
    const { lastModified, publicAccess } = fieldsOf(fields["properties"]);
    const changed = ticksOf(lastModified) ?? now;
    const record: ContainerRecord = {
      id: staged.newId(),
      etag: changed > now ? now : changed,
      lease: leaseOf(fields, now),
      metadata: metadataOf(fields["metadata"]),
      policies: policiesOf(fields["containerAcl"]),
      publicAccess:
        publicAccess === "blob" || publicAccess === "container" ? publicAccess : undefined,
    };
    staged.add({ kind: "container", account, name, record });
    counts.containers += 1;
  }
}

async function stageQueues({ folder, staged, counts }: ImportContext): Promise<void> {
  const all = folder.documents("queue", (name) => name === "$QUEUES_COLLECTION$");
  for await (const { fields } of all) {
    const { account, name } = namesIn(fields, "accountName", "name");
    refuseInvalid("queue", name, checkQueueName(name).ok);
    const metadata = metadataOf(fields["metadata"]);
    const record = { id: staged.newId(), metadata, policies: policiesOf(fields["queueAcl"]) };
    staged.add({ kind: "queue", account, name, record });
    counts.queues += 1;
  }
}

async function stageTables({ folder, staged, counts }: ImportContext): Promise<void> {
  const all = folder.documents("table", (name) => name === "$TABLES_COLLECTION$");
  for await (const { fields } of all) {
    const { account, name } = namesIn(fields, "account", "table");
    refuseInvalid("table", name, checkTableName(name).ok);
    const record = { id: staged.newId(), name, policies: policiesOf(fields["tableAcl"]) };
    staged.add({ kind: "table", account, name, record });
    counts.tables += 1;
  }
}

function namesIn(fields: Fields, accountField: string, nameField: string) {
  const account = requiredText(fields, accountField);
  refuseInvalid("account", account, isConfigurableName(account));
  return { account, name: requiredText(fields, nameField) };
}

function refuseInvalid(kind: string, name: string, isValid: boolean): void {
  if (!isValid) throw new ImportRefused([`${kind} ${JSON.stringify(name)}: the name is not valid`]);
}
