import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { pattern } from "../harness/content-fixture.ts";
import { start, type EtagereServer } from "../../src/index.ts";
import { openFakeS3, type FakeS3 } from "../harness/fake-s3.ts";
import { rawClient, type RawClient } from "../harness/raw-client.ts";

const location = temporaryFolder();
const body = Buffer.from(pattern(300_000, 1));
let bucket: FakeS3;
let server: EtagereServer;
let blob: RawClient;

beforeAll(async () => {
  bucket = await openFakeS3();
  vi.stubEnv("AWS_ACCESS_KEY_ID", bucket.credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", bucket.credentials.secretAccessKey);
  server = await start({ port: 0, location, noSmb: true, content: `${bucket.location}&cache=0` });
  blob = rawClient(server.urls.blob ?? "");
  await blob.send({ method: "PUT", path: "/ccc?restype=container" });
});

afterAll(async () => {
  await server.stop();
  await bucket.close();
  vi.unstubAllEnvs();
});

const put = (name: string) =>
  blob.send({
    method: "PUT",
    path: `/ccc/${name}`,
    headers: { "x-ms-blob-type": "BlockBlob" },
    body,
  });
const get = (name: string, method = "GET") => blob.send({ method, path: `/ccc/${name}` });
const readiness = async () => (await fetch(`${server.adminUrl}/readyz`)).status;

it("answers 503 with Retry-After while the bucket is unavailable, and recovers by itself", async () => {
  expect((await put("before")).status).toBe(201);
  expect(await readiness()).toBe(200);
  bucket.isAway = true;
  const [read, written, ready] = await Promise.all([get("before"), put("meanwhile"), readiness()]);
  for (const { status, code, headers } of [read, written]) {
    expect([status, code]).toEqual([503, "ServerBusy"]);
    expect(Number(headers["retry-after"])).toBeGreaterThan(0);
  }
  expect(ready).toBe(503);
  expect((await get("before", "HEAD")).status).toBe(200);
  bucket.isAway = false;
  expect(await readiness()).toBe(200);
  expect((await get("meanwhile", "HEAD")).status).toBe(404);
  expect((await put("after")).status).toBe(201);
  for (const name of ["before", "after"]) {
    expect(Buffer.compare((await get(name)).body, body)).toBe(0);
  }
});
