// The official reader of the change feed: all changes in their order, and a feed that is continued
// from a cursor.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";

const installed = createRequire(join(process.cwd(), "package.json"));
const { BlobServiceClient } = installed("@azure/storage-blob");
const { BlobChangeFeedClient } = installed("@azure/storage-blob-changefeed");
const connectionString = process.env["CONNECTION_STRING"];
const blobCount = 250;
const pageEvents = 100;

const container =
  BlobServiceClient.fromConnectionString(connectionString).getContainerClient("changes");
await container.create();
for (let index = 0; index < blobCount; index += 1) {
  await container.getBlockBlobClient(`blob-${index}`).upload("hello", 5);
}
const blob = container.getBlockBlobClient("blob-0");
await blob.setMetadata({ key: "value" });
await blob.createSnapshot();
await blob.setHTTPHeaders({ blobContentType: "text/plain" });
await blob.setTags({ key: "value" });
await blob.setAccessTier("Cool");
await blob.delete({ deleteSnapshots: "include" });

const expected = [
  ...Array.from({ length: blobCount }, (_, index) => `BlobCreated PutBlob blob-${index}`),
  "BlobPropertiesUpdated SetBlobMetadata blob-0",
  "BlobSnapshotCreated SnapshotBlob blob-0",
  "BlobPropertiesUpdated SetBlobProperties blob-0",
  "BlobPropertiesUpdated SetBlobTags blob-0",
  "BlobTierChanged SetBlobTier blob-0",
  "BlobDeleted DeleteBlob blob-0",
  "BlobDeleted DeleteBlob blob-0",
];
const client = BlobChangeFeedClient.fromConnectionString(connectionString);
const found = await readUntil(expected.length);
assert.deepEqual(found, expected);

const pages = client.listChanges().byPage({ maxPageSize: pageEvents });
const { value: first } = await pages.next();
assert.equal(first.events.length, pageEvents);
const rest = [];
const { continuationToken } = first;
for await (const { events } of client.listChanges().byPage({ continuationToken })) {
  rest.push(...events.map(textOf));
}
assert.deepEqual(rest, expected.slice(pageEvents));

/** Changes appear after about a second. */
async function readUntil(count) {
  const endsAt = Date.now() + 60_000;
  for (;;) {
    const texts = [];
    for await (const event of client.listChanges()) texts.push(textOf(event));
    if (texts.length >= count || Date.now() > endsAt) return texts;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function textOf({ eventType, data, subject }) {
  return `${eventType} ${data.api} ${subject.split("/").at(-1)}`;
}
