import { createHash } from "node:crypto";
import { TableClient, TableServiceClient } from "@azure/data-tables";
import { BlobServiceClient, type BlobItem, type ContainerClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";

type Described = Readonly<Record<string, unknown>>;

/** Everything that clients can see, as JSON: equal before and after an import. */
export async function describeData(connectionString: string): Promise<Described> {
  const described = {
    containers: await describeContainers(connectionString),
    queues: await describeQueues(connectionString),
    tables: await describeTables(connectionString),
  };
  return JSON.parse(JSON.stringify(described)) as Described;
}

async function describeContainers(connectionString: string): Promise<readonly Described[]> {
  const service = BlobServiceClient.fromConnectionString(connectionString);
  const found: Described[] = [];
  for await (const { name } of service.listContainers()) {
    const container = service.getContainerClient(name);
    const { metadata, lastModified, blobPublicAccess, leaseState, leaseDuration } =
      await container.getProperties();
    const { signedIdentifiers } = await container.getAccessPolicy();
    const shown = { metadata, lastModified, blobPublicAccess, leaseState, leaseDuration };
    found.push({ name, ...shown, signedIdentifiers, blobs: await describeBlobs(container) });
  }
  return found;
}

async function describeBlobs(container: ContainerClient): Promise<readonly Described[]> {
  const found: Described[] = [];
  const include = { includeSnapshots: true, includeUncommitedBlobs: true };
  for await (const item of container.listBlobsFlat(include)) {
    found.push(await describeBlob(container, item));
  }
  const order = ({ name, snapshot = "~" }: Described) => JSON.stringify([name, snapshot]);
  return found.toSorted((left, right) => (order(left) < order(right) ? -1 : 1));
}

async function describeBlob(container: ContainerClient, item: BlobItem): Promise<Described> {
  const { name, snapshot } = item;
  const blocks = await describeBlocks(container, item);
  // A blob that has only uncommitted blocks cannot be read.
  const isThere = item.properties.contentLength !== 0 || name === "nothing";
  if (!isThere) return { name, blocks };
  const base = container.getBlobClient(name);
  const blob = snapshot === undefined ? base : base.withSnapshot(snapshot);
  const all = await blob.getProperties();
  const bytes = await blob.downloadToBuffer();
  const isInferred = all.accessTierInferred === true;
  return {
    name,
    snapshot,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    blocks,
    pages: all.blobType === "PageBlob" ? await describePages(container, item) : undefined,
    tags: all.tagCount === undefined ? undefined : (await blob.getTags()).tags,
    metadata: all.metadata,
    blobType: all.blobType,
    lastModified: all.lastModified,
    createdOn: all.createdOn,
    contentLength: all.contentLength,
    contentType: all.contentType,
    contentEncoding: all.contentEncoding,
    contentLanguage: all.contentLanguage,
    contentDisposition: all.contentDisposition,
    cacheControl: all.cacheControl,
    contentMd5: all.contentMD5 && Buffer.from(all.contentMD5).toString("base64"),
    accessTier: isInferred ? undefined : all.accessTier,
    leaseState: snapshot === undefined ? (all.leaseState ?? "available") : undefined,
    sequenceNumber: all.blobSequenceNumber,
    committedBlockCount: all.blobCommittedBlockCount,
    copyId: all.copyId,
    copySource: all.copySource,
    copyStatus: all.copyStatus,
  };
}

async function describeBlocks(
  container: ContainerClient,
  { name, snapshot, properties }: BlobItem,
): Promise<unknown> {
  if (properties.blobType !== "BlockBlob") return undefined;
  const base = container.getBlockBlobClient(name);
  const blob = snapshot === undefined ? base : base.withSnapshot(snapshot);
  const { committedBlocks = [], uncommittedBlocks = [] } = await blob.getBlockList("all");
  return { committedBlocks, uncommittedBlocks };
}

async function describePages(
  container: ContainerClient,
  { name, snapshot }: BlobItem,
): Promise<unknown> {
  const base = container.getPageBlobClient(name);
  const blob = snapshot === undefined ? base : base.withSnapshot(snapshot);
  return (await blob.getPageRanges()).pageRange;
}

async function describeQueues(connectionString: string): Promise<readonly Described[]> {
  const service = QueueServiceClient.fromConnectionString(connectionString);
  const found: Described[] = [];
  for await (const { name } of service.listQueues()) {
    const queue = service.getQueueClient(name);
    const { metadata } = await queue.getProperties();
    const { signedIdentifiers } = await queue.getAccessPolicy();
    const { peekedMessageItems } = await queue.peekMessages({ numberOfMessages: 32 });
    const messages = peekedMessageItems.map(
      ({ messageText, dequeueCount, insertedOn, expiresOn }) => {
        return { messageText, dequeueCount, insertedOn, year: expiresOn.getUTCFullYear() };
      },
    );
    found.push({ name, metadata, signedIdentifiers, messages });
  }
  return found.toSorted((left, right) => (String(left["name"]) < String(right["name"]) ? -1 : 1));
}

async function describeTables(connectionString: string): Promise<readonly Described[]> {
  const options = { allowInsecureConnection: true };
  const service = TableServiceClient.fromConnectionString(connectionString, options);
  const found: Described[] = [];
  for await (const { name = "" } of service.listTables()) {
    const table = TableClient.fromConnectionString(connectionString, name, options);
    const policies = await table.getAccessPolicy();
    const entities: unknown[] = [];
    for await (const { etag, ...entity } of table.listEntities()) {
      const shown = Object.entries(entity).map(([key, value]) => [key, plainValue(value)]);
      const etagOf = withoutFinalZeros(decodeURIComponent(etag));
      entities.push({ ...Object.fromEntries(shown), etag: etagOf });
    }
    found.push({ name, policies, entities });
  }
  return found;
}

/** The service and Azurite format times differently. */
function withoutFinalZeros(text: string): string {
  return text.replace(/(\.\d*?)0+Z/, "$1Z");
}

function plainValue(value: unknown): unknown {
  if (typeof value === "string") return withoutFinalZeros(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return typeof value === "bigint" ? `${value}n` : value;
}
