import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { start } from "../../src/index.ts";
import { pattern } from "../harness/content-fixture.ts";
import { openFakeS3 } from "../harness/fake-s3.ts";
import { rawClient } from "../harness/raw-client.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { OtlpReceiver } from "../telemetry/otlp-receiver.ts";
import { openDatabase } from "./database.ts";

const folder = temporaryFolder();
const parent = "b7ad6b7169203331";
const traces = { put: "0af7651916cd43dd8448eb211c80319c", get: "4bf92f3577b34da6a3ce929d0e0e4736" };
const length = 300_000;

it("traces the calls of the database and the bucket for the request that needs them", async () => {
  const [database, bucket] = await Promise.all([openDatabase(), openFakeS3()]);
  vi.stubEnv("AWS_ACCESS_KEY_ID", bucket.credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", bucket.credentials.secretAccessKey);
  await using receiver = await OtlpReceiver.start();
  const places = { store: database.newUrl(), content: `${bucket.location}&cache=0` };
  const location = join(folder, "node");
  const server = await start({ port: 0, noSmb: true, location, otlp: receiver.url, ...places });
  try {
    const blob = rawClient(server.urls.blob ?? "");
    await blob.send({ method: "PUT", path: "/ccc?restype=container" });
    const traced = (id: string) => ({ traceparent: `00-${id}-${parent}-01` });
    const body = Buffer.from(pattern(length, 1));
    const headers = { "x-ms-blob-type": "BlockBlob", ...traced(traces.put) };
    const put = await blob.send({ method: "PUT", path: "/ccc/b", headers, body });
    expect(put.status).toBe(201);
    const get = await blob.send({ method: "GET", path: "/ccc/b", headers: traced(traces.get) });
    expect([get.status, get.body.length]).toEqual([200, length]);
  } finally {
    await server.stop();
    await Promise.all([database.stop(), bucket.close()]);
    vi.unstubAllEnvs();
  }
  const namesIn = (traceId: string): ReadonlySet<string> =>
    new Set(receiver.spans.filter((span) => span.traceId === traceId).map(({ name }) => name));
  const written = ["PUT Put Blob", "receive body", "S3 PUT", "transaction", "commit batch"];
  expect([...namesIn(traces.put)]).toEqual(
    expect.arrayContaining([...written, "postgresql commit_batch"]),
  );
  expect([...namesIn(traces.get)]).toEqual(
    expect.arrayContaining(["GET Get Blob", "snapshot", "S3 GET", "send body"]),
  );
  const call = receiver.spans.find(({ name }) => name === "postgresql commit_batch");
  expect(call?.attributes).toMatchObject({ "db.system.name": "postgresql" });
});
