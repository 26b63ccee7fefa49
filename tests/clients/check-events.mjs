// What a webhook gets, parsed by the SDKs of Event Grid and of CloudEvents.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join } from "node:path";

const installed = createRequire(join(process.cwd(), "package.json"));
const { BlobServiceClient } = installed("@azure/storage-blob");
const { EventGridDeserializer, isSystemEvent } = installed("@azure/eventgrid");
const { HTTP } = installed("cloudevents");
const port = Number(process.env["RECEIVER_PORT"]);

const received = [];
const receiver = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks).toString();
    received.push({ path: request.url, headers: request.headers, body });
    response.end();
  });
});
await new Promise((resolve) => receiver.listen(port, "127.0.0.1", resolve));

const service = BlobServiceClient.fromConnectionString(process.env["CONNECTION_STRING"]);
const { containerClient } = await service.createContainer("photos");
await containerClient.uploadBlockBlob("a.jpg", "hello", 5);
await containerClient.deleteBlob("a.jpg");
const endsAt = Date.now() + 60_000;
while (received.length < 4) {
  assert.ok(Date.now() < endsAt, JSON.stringify(received));
  await new Promise((resolve) => setTimeout(resolve, 50));
}

const bodiesOf = (path) => received.filter((request) => request.path === path);
const types = ["Microsoft.Storage.BlobCreated", "Microsoft.Storage.BlobDeleted"];
const subject = "/blobServices/default/containers/photos/blobs/a.jpg";

const deserializer = new EventGridDeserializer();
const grid = [];
for (const { body } of bodiesOf("/grid")) {
  grid.push(...(await deserializer.deserializeEventGridEvents(body)));
}
assert.deepEqual(
  grid.map(({ eventType }) => eventType),
  types,
);
assert.ok(isSystemEvent(types[0], grid[0]));
assert.equal(grid[0].subject, subject);
assert.equal(grid[0].data.contentLength, 5);
assert.ok(grid[0].eventTime instanceof Date);

const cloud = [];
for (const { headers, body } of bodiesOf("/cloud")) {
  const event = HTTP.toEvent({ headers, body });
  assert.equal(event.validate(), true);
  cloud.push(event);
  const [parsed] = await deserializer.deserializeCloudEvents(body);
  assert.equal(parsed.id, event.id);
}
assert.deepEqual(
  cloud.map(({ type }) => type),
  types,
);
assert.equal(cloud[0].subject, subject);
assert.equal(cloud[0].data.api, "PutBlob");
receiver.close();
receiver.closeAllConnections();
