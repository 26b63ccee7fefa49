import { once } from "node:events";
import { rmSync } from "node:fs";
import { Agent, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, get } from "node:https";
import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { useInstrumenter } from "@azure/core-tracing";
import { expect, it, vi } from "vitest";
import { start, type StartOptions } from "../../src/index.ts";
import { makeCertificate } from "../https/certificate.ts";
import { rawClient } from "../harness/raw-client.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import { acknowledgeOplock, openFile } from "../smb-wire/wire-messages.ts";
import { noTracing } from "./no-tracing.ts";
import { OtlpReceiver, type ReceivedSpan } from "./otlp-receiver.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";
const batchOplock = 9;
const blockBlob = { "x-ms-blob-type": "BlockBlob" };
const put = { method: "PUT", path: "/box/b", headers: blockBlob, body: "a" };

/** Runs requests against a server that exports traces, and returns what was exported. */
async function exported(
  act: (blobUrl: string, connectionString: string) => Promise<void>,
  options: StartOptions = {},
): Promise<OtlpReceiver> {
  await using receiver = await OtlpReceiver.start();
  const common = { port: 0, inMemoryPersistence: true, otlp: receiver.url } as const;
  const server = await start({ ...common, ...options });
  try {
    await act(server.urls.blob ?? "", server.connectionString);
  } finally {
    await server.stop();
  }
  return receiver;
}

function named(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.find((span) => span.name === name);
  if (found === undefined) {
    throw new Error(`no ${name} in ${spans.map((each) => each.name).join(", ")}`);
  }
  return found;
}

/** The span of the request that was rejected with 412. */
function refusedIn(spans: readonly ReceivedSpan[]): ReceivedSpan | undefined {
  return spans.find((span) => span.attributes["http.response.status_code"] === 412);
}

it("continues the trace of a client through transaction and commit", async () => {
  const { spans, resources, metrics } = await exported(async (url) => {
    const traceparent = `00-${traceId}-${spanId}-01`;
    const headers = { traceparent, tracestate: "vendor=1", "user-agent": "test" };
    const path = "/traced?restype=container";
    const { status } = await rawClient(url).send({ method: "PUT", path, headers });
    expect(status).toBe(201);
  });
  const request = named(spans, "PUT Create Container");
  expect(request).toMatchObject({ traceId, parentSpanId: spanId, kind: 2 });
  expect(request.traceState).toBe("vendor=1");
  expect(request.attributes).toMatchObject({
    "http.request.method": "PUT",
    "http.response.status_code": 201,
    "url.scheme": "http",
    "url.path": "/devstoreaccount1/traced",
    "server.address": "127.0.0.1",
    "user_agent.original": "test",
    "azure.resource_provider.namespace": "Microsoft.Storage",
    "etagere.account": "devstoreaccount1",
  });
  const transaction = named(spans, "transaction");
  expect(transaction).toMatchObject({ traceId, parentSpanId: request.spanId });
  expect(transaction.attributes).toMatchObject({ "etagere.attempts": 1 });
  expect(named(spans, "commit batch")).toMatchObject({ parentSpanId: transaction.spanId });
  expect(resources[0]).toMatchObject({ "service.name": "etagere" });
  const names = metrics.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["etagere.requests", "etagere.store.conflicts"]));
  const duration = metrics.find(({ name }) => name === "http.server.request.duration");
  expect(duration?.histogram?.dataPoints).toMatchObject([{ count: 1 }]);
});

it("explains a failed precondition with the request that changed the blob", async () => {
  let writerId: unknown;
  const { spans } = await exported(async (url) => {
    const client = rawClient(url);
    await client.send({ method: "PUT", path: "/box?restype=container" });
    const { headers } = await client.send(put);
    writerId = (await client.send(put)).headers["x-ms-request-id"];
    const stale = { ...blockBlob, "if-match": String(headers["etag"]) };
    const refused = await client.send({ ...put, headers: stale });
    expect(refused.status).toBe(412);
  });
  const refused = refusedIn(spans);
  const writer = spans.find((span) => span.attributes["azure.service.request.id"] === writerId);
  expect(refused?.attributes).toMatchObject({
    "etagere.error_code": "ConditionNotMet",
    "etagere.refused.rule": "condition",
    "etagere.refused.condition": "If-Match",
    "etagere.refused.current_etag": writer?.attributes["etagere.etag"],
    "etagere.refused.by_request_id": writerId,
    "etagere.refused.by_trace_id": writer?.traceId,
  });
  expect(refused?.links).toMatchObject([{ traceId: writer?.traceId, spanId: writer?.spanId }]);
  expect(refused?.status?.code).not.toBe(2);
});

it("explains a failed precondition with the request that deleted the blob", async () => {
  let deleterId: unknown;
  const { spans } = await exported(async (url) => {
    const client = rawClient(url);
    await client.send({ method: "PUT", path: "/box?restype=container" });
    const { headers } = await client.send(put);
    await client.send({ ...put, path: "/box/other" });
    deleterId = (await client.send({ method: "DELETE", path: "/box/b" })).headers[
      "x-ms-request-id"
    ];
    await client.send({ method: "DELETE", path: "/box/other" });
    const stale = { ...blockBlob, "if-match": String(headers["etag"]) };
    expect((await client.send({ ...put, headers: stale })).status).toBe(412);
  });
  const refused = refusedIn(spans);
  expect(refused?.attributes).toMatchObject({
    "etagere.refused.current_etag": "none",
    "etagere.refused.by_request_id": deleterId,
  });
});

it("explains the rejection of an entity with the ETag and the code that its client knows", async () => {
  const { spans } = await exported(async (_url, connectionString) => {
    const options = { allowInsecureConnection: true };
    const table = TableClient.fromConnectionString(connectionString, "traced", options);
    await table.createTable();
    const entity = { partitionKey: "p", rowKey: "r" };
    const { etag = "" } = await table.createEntity(entity);
    await table.updateEntity(entity);
    const stale = table.updateEntity(entity, "Merge", { etag });
    await expect(stale).rejects.toThrow("UpdateConditionNotSatisfied");
  });
  const refused = refusedIn(spans);
  const etagForm = expect.stringMatching(/^W\/"datetime'/) as string;
  expect(refused?.attributes).toMatchObject({
    "etagere.error_code": "UpdateConditionNotSatisfied",
    "etagere.refused.expected": etagForm,
    "etagere.refused.current_etag": etagForm,
  });
});

it("names no request for an object that was removed with its container", async () => {
  const { spans } = await exported(async (url) => {
    const client = rawClient(url);
    const container = { method: "PUT", path: "/box?restype=container" };
    await client.send(container);
    const { headers } = await client.send(put);
    await client.send({ method: "DELETE", path: "/box/b" });
    await client.send(put);
    await client.send({ ...container, method: "DELETE" });
    await client.send(container);
    const stale = { ...blockBlob, "if-match": String(headers["etag"]) };
    expect((await client.send({ ...put, headers: stale })).status).toBe(412);
  });
  const refused = refusedIn(spans);
  expect(refused?.attributes).toMatchObject({ "etagere.refused.current_etag": "none" });
  expect(refused?.attributes).not.toHaveProperty("etagere.refused.by_request_id");
});

it("names the request that wrote an ETag, not a later snapshot, which keeps it", async () => {
  let writerId: unknown;
  const { spans } = await exported(async (url) => {
    const client = rawClient(url);
    await client.send({ method: "PUT", path: "/box?restype=container" });
    const { headers } = await client.send(put);
    writerId = (await client.send(put)).headers["x-ms-request-id"];
    expect((await client.send({ method: "PUT", path: "/box/b?comp=snapshot" })).status).toBe(201);
    const stale = { ...blockBlob, "if-match": String(headers["etag"]) };
    expect((await client.send({ ...put, headers: stale })).status).toBe(412);
  });
  const refused = refusedIn(spans);
  expect(refused?.attributes).toMatchObject({ "etagere.refused.by_request_id": writerId });
});

it("explains a write without the lease id with the request that acquired the lease", async () => {
  let leaseRequestId: unknown;
  const { spans } = await exported(async (url) => {
    const client = rawClient(url);
    await client.send({ method: "PUT", path: "/box?restype=container" });
    await client.send(put);
    const headers = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "60" };
    const acquire = { method: "PUT", path: "/box/b?comp=lease", headers };
    leaseRequestId = (await client.send(acquire)).headers["x-ms-request-id"];
    expect((await client.send(put)).status).toBe(412);
  });
  const refused = refusedIn(spans);
  expect(refused?.attributes).toMatchObject({
    "etagere.refused.rule": "lease",
    "etagere.refused.lease_state": "leased",
    "etagere.refused.has_lease_id": false,
    "etagere.refused.by_request_id": leaseRequestId,
  });
});

it("samples as the client does, and rejects no request with another traceparent", async () => {
  const { spans } = await exported(async (url) => {
    const path = "/none?restype=container";
    const notSampled = `00-${traceId}-${spanId}-00`;
    for (const traceparent of [notSampled, "nonsense", `00-${"0".repeat(32)}-${spanId}-01`]) {
      const { status } = await rawClient(url).send({
        method: "GET",
        path,
        headers: { traceparent },
      });
      expect(status).toBe(404);
    }
  });
  const requests = spans.filter(({ kind }) => kind === 2);
  expect(requests).toHaveLength(2);
  for (const { parentSpanId } of requests) expect(parentSpanId ?? "").toBe("");
});

it("joins the spans of the JavaScript client library", async () => {
  const clientSpans: string[] = [];
  useInstrumenter({
    ...noTracing,
    startSpan(name, options) {
      clientSpans.push(name);
      return noTracing.startSpan(name, options);
    },
    createRequestHeaders: () => ({ traceparent: `00-${traceId}-${spanId}-01` }),
  });
  const { spans } = await exported(async (_url, connectionString) => {
    const service = BlobServiceClient.fromConnectionString(connectionString);
    await service.getContainerClient("joined").create();
  });
  expect(clientSpans).toContain("ContainerClient-create");
  const request = named(spans, "PUT Create Container");
  expect(request).toMatchObject({ traceId, parentSpanId: spanId });
  expect(request.attributes["etagere.client_request_id"]).toMatch(/^[0-9a-f-]{36}$/);
});

it("shows that a request waited for an SMB client", async () => {
  await using receiver = await OtlpReceiver.start();
  const server = await start({ port: 0, inMemoryPersistence: true, otlp: receiver.url });
  const file = rawClient(server.urls.file ?? "");
  const path = "/held/a.txt";
  const create = { "x-ms-type": "file", "x-ms-content-length": "10" };
  await file.send({ method: "PUT", path: "/held?restype=share" });
  await file.send({ method: "PUT", path, headers: create });
  const smb = await WireClient.ready(server.smbUrl, "held");
  const handle = await openFile(smb, "a.txt", { oplock: batchOplock });
  const reading = file.send({ method: "GET", path });
  await smb.noticed(1);
  await acknowledgeOplock(smb, handle, 0);
  expect((await reading).status).toBe(200);
  smb.end();
  await server.stop();
  const request = named(receiver.spans, "GET Get File");
  expect(named(receiver.spans, "wait")).toMatchObject({ parentSpanId: request.spanId });
});

/** Deletes a blob in a batch; only the batch has this `traceparent`. */
async function deleteInBatch(connectionString: string, traceparent: string): Promise<void> {
  const sendAs = (header: string): void =>
    useInstrumenter({ ...noTracing, createRequestHeaders: () => ({ traceparent: header }) });
  sendAs(`00-${traceId}-${spanId}-00`);
  const service = BlobServiceClient.fromConnectionString(connectionString);
  const container = service.getContainerClient("box");
  await container.create();
  const blob = container.getBlockBlobClient("b");
  await blob.upload("a", 1);
  sendAs(traceparent);
  await service.getBlobBatchClient().deleteBlobs([blob]);
}

it.each([
  ["01", ["POST Blob Batch", "DELETE Delete Blob"]],
  ["00", []],
])("traces the parts of a batch as the batch (flags %s)", async (flags, expected) => {
  const { spans } = await exported((_url, connectionString) =>
    deleteInBatch(connectionString, `00-${traceId}-${spanId}-${flags}`),
  );
  const requests = spans.filter((span) => "http.request.method" in span.attributes);
  expect(requests.map(({ name }) => name).toSorted()).toEqual(expected.toSorted());
  const [batch, part] = expected.map((name) => named(requests, name));
  if (batch !== undefined) expect(part).toMatchObject({ parentSpanId: batch.spanId });
});

it("traces a request whose client disconnects before the response", async () => {
  await using receiver = await OtlpReceiver.start();
  const server = await start({ port: 0, inMemoryPersistence: true, otlp: receiver.url });
  const agent = new Agent();
  const file = rawClient(server.urls.file ?? "", agent);
  const path = "/held/a.txt";
  const create = { "x-ms-type": "file", "x-ms-content-length": "10" };
  await file.send({ method: "PUT", path: "/held?restype=share" });
  await file.send({ method: "PUT", path, headers: create });
  const smb = await WireClient.ready(server.smbUrl, "held");
  await openFile(smb, "a.txt", { oplock: batchOplock });
  const reading = file.send({ method: "GET", path });
  await smb.noticed(1);
  agent.destroy();
  await expect(reading).rejects.toThrow("socket hang up");
  smb.end();
  await server.stop();
  expect(named(receiver.spans, "GET Get File").attributes["url.path"]).toContain(path);
});

it("exports the last request before a stop, also over TLS", async () => {
  const { folder, cert, key, ca } = makeCertificate();
  const { spans } = await exported(
    async (url) => {
      const asked = get(url, { ca, agent: new HttpsAgent({ keepAlive: true }) });
      const [response] = (await once(asked, "response")) as [IncomingMessage];
      await once(response.resume(), "end");
    },
    { cert, key },
  );
  rmSync(folder, { recursive: true });
  expect(spans.filter(({ kind }) => kind === 2)).toHaveLength(1);
});

it("exports nothing if OTEL_SDK_DISABLED is set", async () => {
  vi.stubEnv("OTEL_SDK_DISABLED", "true");
  const { spans, metrics } = await exported(async (url) => {
    await rawClient(url).send({ method: "PUT", path: "/traced?restype=container" });
  });
  vi.unstubAllEnvs();
  expect([spans, metrics]).toEqual([[], []]);
});

it("limits attributes as the environment says", async () => {
  vi.stubEnv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "8");
  const { spans } = await exported(async (url) => {
    await rawClient(url).send({ method: "PUT", path: "/traced?restype=container" });
  });
  vi.unstubAllEnvs();
  const request = named(spans, "PUT Create Container");
  expect(request.attributes["url.path"]).toBe("/devstor");
});
