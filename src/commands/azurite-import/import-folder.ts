import { isConfigurableName } from "../../account/parse-settings.ts";
import type { ContainerRecord } from "../../blob/records.ts";
import { checkContainerName, checkResourceName, checkTableName } from "../../protocol/names.ts";
import type { Log, Random } from "../../base/world.ts";
import type { DataStores } from "../../data/data-stores.ts";
import type { AzuriteFolder } from "./azurite-folder.ts";
import {
  chunkOf,
  countOf,
  fieldsOf,
  leaseOf,
  listOf,
  metadataOf,
  policiesOf,
  requiredText,
  ticksOf,
  type Fields,
  blobRecordOf,
  blobTypeOf,
  contentLengthOf,
  snapshotOf,
} from "./document-fields.ts";
import {
  contentCollections,
  importBlobs,
  importedBytes,
  isDirectoryMark,
  nameProblem,
} from "./import-blobs.ts";
import { noCounts, runLimited, type ImportContext, type ImportCounts } from "./import-context.ts";
import { noProgress, type Amount, type Progress } from "../progress.ts";
import { ImportRefused } from "../../host/refused.ts";
import { databaseVersions, refuseChanged } from "./source-checks.ts";
import { StagedResources } from "./staged-resources.ts";
import { put } from "../../operation/effects.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { applyEffects } from "../../operation/apply.ts";
import { checkEntity } from "../../table/edm/edm.ts";
import { readJsonEntity } from "../../table/json/read-entity.ts";
import { entities } from "../../table/records.ts";
import { entityRecord } from "../../table/stored/entity-record.ts";
import { ticksMax, ticksPerMillisecond } from "../../base/ticks.ts";
import { newGuid } from "../../operation/identifiers.ts";
import { insertMessage } from "../../queue/message/stored-messages.ts";
import { messageIdTicksMin, newMessageId } from "../../queue/message/message-id.ts";
import { splitPath } from "../../blob/tree/find-path.ts";

/** Carries out `etagere import`: stores the contents of an Azurite data folder, and publishes its
 *  containers, queues and tables at the end. */

/** The folder to import, and the stores to import it into. */
interface ImportOptions {
  /** An Azurite data folder; Azurite must be stopped. */
  readonly folder: AzuriteFolder;
  readonly stores: Pick<DataStores, "store" | "content">;
  readonly random: Random;
  readonly log: Log;
  readonly progress?: Progress | undefined;
}

interface ImportResult {
  readonly counts: ImportCounts;
  /** Names of the accounts whose data was imported. */
  readonly accounts: readonly string[];
}

/** Imports an Azurite data folder. Everything becomes visible in one transaction at the end; an
 *  import that fails or is killed changes nothing visible. It fails if a container, queue or table
 *  of the same name exists, and if Azurite saves its data meanwhile. */
export async function importFolder(options: ImportOptions): Promise<ImportResult> {
  const { folder, stores, random, log, progress = noProgress } = options;
  const versions = databaseVersions(folder.path);
  const staged = new StagedResources(stores, random);
  const counts = noCounts();
  const context: ImportContext = { folder, stores, random, staged, counts, progress };
  progress.begin({ what: "reading Azurite's lists", itemName: "documents", total: {} });
  const found = await stageContainers(context);
  await stageQueues(context);
  await stageTables(context);
  await staged.begin();
  try {
    await checkHierarchy(context);
    progress.begin({ what: "importing blobs", itemName: "blobs and blocks", total: found });
    await importBlobs(context);
    progress.begin({ what: "importing messages", itemName: "messages", total: {} });
    await importMessages(context);
    progress.begin({ what: "importing entities", itemName: "entities", total: {} });
    await importEntities(context);
    refuseChanged(folder.path, versions);
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
  return { counts, accounts: staged.accountNames() };
}

const containerCollection = "$CONTAINERS_COLLECTION$";
const blobCollections: ReadonlySet<string> = new Set([containerCollection, ...contentCollections]);

/** Adds the containers of the folder to the import. Returns how many blobs and bytes `importBlobs`
 *  will find, for the progress: both are learned by reading the database once. */
async function stageContainers({
  folder,
  stores,
  staged,
  counts,
  progress,
}: ImportContext): Promise<Amount> {
  const now = await stores.store.snapshot((view) => Promise.resolve(view.now));
  const found = { items: 0, bytes: 0 };
  const all = folder.documents("blob", (name) => blobCollections.has(name));
  for await (const { collection, fields } of all) {
    progress.add({ items: 1 });
    if (collection !== containerCollection) {
      found.items += 1;
      found.bytes += importedBytes(collection, fields);
      continue;
    }
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
  return found;
}

async function stageQueues({ folder, staged, counts }: ImportContext): Promise<void> {
  const all = folder.documents("queue", (name) => name === "$QUEUES_COLLECTION$");
  for await (const { fields } of all) {
    const { account, name } = namesIn(fields, "accountName", "name");
    refuseInvalid("queue", name, checkResourceName(name).ok);
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

const entitiesAtOnceMax = 64;
const typeSuffix = "@odata.type";
const guidType = "Edm.Guid";

/** Imports the entities of tables. They keep their Timestamp, from which their ETag is made. */
async function importEntities(context: ImportContext): Promise<void> {
  // Each table has its own collection: `account$table`.
  const all = context.folder.documents("table", (name) => /^[^$].*\$./.test(name));
  await runLimited(all, entitiesAtOnceMax, ({ collection, fields }) =>
    importEntity(context, collection, fields),
  );
}

async function importEntity(
  { stores, staged, counts, progress }: ImportContext,
  collection: string,
  document: Fields,
): Promise<void> {
  const dollar = collection.indexOf("$");
  const named = { account: collection.slice(0, dollar), name: collection.slice(dollar + 1) };
  const table = staged.find("table", named)?.record.id;
  if (table === undefined) {
    counts.skipped += 1;
    return;
  }
  const partitionKey = requiredText(document, "PartitionKey");
  const rowKey = requiredText(document, "RowKey");
  const keys = { partitionKey, rowKey };
  const read = readJsonEntity(JSON.stringify(propertiesOf(document["properties"])));
  const fits = read.ok ? checkEntity(keys, read.value.properties) : read;
  if (!read.ok || !fits.ok) {
    const code = fits.ok ? "" : fits.fault.code;
    const entity = JSON.stringify([partitionKey, rowKey]);
    throw new ImportRefused([`table ${named.name}, entity ${entity}: ${code}`]);
  }
  progress.add({ items: 1 });
  const { properties } = read.value;
  const changed = ticksOf(document["lastModifiedTime"]);
  await stores.store.transact(async (tx) => {
    const etag = changed === undefined || changed > tx.now ? tx.now : changed;
    const effect = put(entities, { table, ...keys }, entityRecord(etag, properties));
    await applyEffects(stores.content, tx, [effect], tx.now);
  });
  counts.entities += 1;
}

/** The properties of an entity. Decodes GUIDs, of which Azurite stores the base64 form. */
function propertiesOf(value: unknown): Fields {
  const properties = fieldsOf(value);
  const decoded: Record<string, unknown> = {};
  for (const [name, property] of Object.entries(properties)) {
    const isGuid = properties[`${name}${typeSuffix}`] === guidType;
    decoded[name] = isGuid && typeof property === "string" ? guidOf(property) : property;
  }
  return decoded;
}

function guidOf(text: string): string {
  return parseGuid(text) ?? Buffer.from(text, "base64").toString("utf8");
}

const messagesAtOnceMax = 64;
const messageBytesMax = 64 * 1024;
/** Expiry times from here on mean that a message never expires: Azurite stores the year 9999. */
const neverSince = ticksMax - ticksPerMillisecond;

/** Imports messages, with their order, dequeue counts and times. Their ids are new, because an id
 *  begins with the insertion time here; so pop receipts of messages in flight become invalid. */
async function importMessages(context: ImportContext): Promise<void> {
  const all = context.folder.documents("queue", (name) => name === "$MESSAGES_COLLECTION$");
  let position = 0;
  let previous: unknown;
  await runLimited(all, messagesAtOnceMax, ({ fields }) => {
    const { insertionTime } = fields;
    position = insertionTime === previous ? position + 1 : 0;
    previous = insertionTime;
    return importMessage(context, fields, position);
  });
}

async function importMessage(
  { folder, stores, random, staged, counts, progress }: ImportContext,
  document: Fields,
  position: number,
): Promise<void> {
  const account = requiredText(document, "accountName");
  const name = requiredText(document, "queueName");
  const queue = staged.find("queue", { account, name })?.record.id;
  const given = ticksOf(document["expirationTime"]) ?? ticksMax;
  const expires = given >= neverSince ? ticksMax : given;
  const chunk = chunkOf(document["persistency"]);
  if (chunk.count > messageBytesMax) {
    throw new ImportRefused([`queue ${name}: a message exceeds ${messageBytesMax} bytes`]);
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of folder.bytes("queue", chunk)) pieces.push(piece);
  const text = Buffer.concat(pieces).toString("utf8");
  const dequeueCount = countOf(document["dequeueCount"]) ?? 0;
  const isInserted = await stores.store.transact(async (tx) => {
    if (queue === undefined || expires <= tx.now) return false;
    const inserted = ticksOf(document["insertionTime"]) ?? tx.now;
    const visibleAt = ticksOf(document["timeNextVisible"]) ?? inserted;
    // Messages inserted in the same millisecond keep the order of their documents.
    const ordered = inserted + ((BigInt(position) * messageIdTicksMin) % ticksPerMillisecond);
    const id = newMessageId(ordered, newGuid(random));
    const message = { inserted, expires, visibleAt, dequeueCount, updateCount: 0, text };
    await applyEffects(stores.content, tx, insertMessage(queue, id, message), tx.now);
    return true;
  });
  progress.add({ items: 1 });
  counts[isInserted ? "messages" : "skipped"] += 1;
}

/** Most problems that one error message lists, so that it stays readable. */
const problemsMax = 20;

/** Refuses blobs that an account with a hierarchical namespace cannot have, before any content is
 *  stored. */
async function checkHierarchy(context: ImportContext): Promise<void> {
  const { folder, staged } = context;
  if (!staged.hasHierarchy) return;
  const problems: string[] = [];
  const names = new PathNames();
  const all = folder.documents("blob", (name) => name === "$BLOBS_COLLECTION$");
  for await (const { fields } of all) {
    if (!staged.isHierarchical(requiredText(fields, "accountName"))) continue;
    const isTaken = names.add(fields);
    const isCommitted = fields["isCommitted"] !== false;
    const problem = isTaken ? "appears twice" : isCommitted ? problemOf(fields) : undefined;
    if (problem !== undefined) problems.push(`blob ${nameOf(fields)}: ${problem}`);
    if (problems.length >= problemsMax) break;
  }
  for (const name of names.conflicts()) {
    if (problems.length >= problemsMax) break;
    problems.push(`blob ${name}: ${nameProblem}`);
  }
  if (problems.length > 0) throw new ImportRefused([...problems, advice]);
}

const advice =
  "an account with a hierarchical namespace cannot have these: import into a flat account";

function problemOf(document: Fields): string | undefined {
  if (blobTypeOf(document) === "PageBlob") return "it is a page blob";
  const tags = listOf(fieldsOf(document["blobTags"])["blobTagSet"]);
  return tags.length === 0 ? undefined : "it has tags";
}

function nameOf(document: Fields): string {
  return `${requiredText(document, "containerName")}/${requiredText(document, "name")}`;
}

/** Most blobs whose names are compared before the import: the names are in memory. Conflicts of
 *  further blobs are found when they are stored, and then end the import one at a time. */
const comparedNamesMax = 200_000;

/** Finds files that are also directories of other names: blobs `a` and `a/b`. */
class PathNames {
  /** Names of the blobs that become files, by account, container and path. */
  readonly #files = new Map<string, string>();
  readonly #directories = new Set<string>();
  #count = 0;

  /** Records the path and the directories of a blob. Returns whether an earlier blob has the same
   *  path: names that differ in repeated slashes do. False for what is not compared: snapshots, and
   *  blobs beyond `comparedNamesMax`. */
  add(document: Fields): boolean {
    if (this.#count >= comparedNamesMax || snapshotOf(document) !== undefined) return false;
    this.#count += 1;
    const name = requiredText(document, "name");
    const account = requiredText(document, "accountName");
    const root = `${account}/${requiredText(document, "containerName")}`;
    const path = [root, ...splitPath(name)].join("/");
    for (let at = path.indexOf("/", root.length + 1); at > 0; at = path.indexOf("/", at + 1)) {
      this.#directories.add(path.slice(0, at));
    }
    // A blob that has only uncommitted blocks is no file yet, but its directories are created.
    if (document["isCommitted"] === false) return false;
    if (isDirectoryMark(blobRecordOf(document, 0n), name, contentLengthOf(document))) {
      this.#directories.add(path);
      return false;
    }
    const isTaken = this.#files.has(path);
    this.#files.set(path, nameOf(document));
    return isTaken;
  }

  *conflicts(): Iterable<string> {
    for (const [path, name] of this.#files) if (this.#directories.has(path)) yield name;
  }
}
