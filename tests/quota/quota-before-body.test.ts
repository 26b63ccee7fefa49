import { expect, it } from "vitest";
import { dfsService } from "../../src/blob/dfs/service.ts";
import { fileService } from "../../src/file/service.ts";
import { compileRoutes } from "../../src/http/request/routing.ts";
import { serveRequest } from "../../src/http/pipeline.ts";
import { simBlob } from "../harness/sim-blob.ts";
import { accountSas, withQuery } from "../harness/raw-client.ts";
import { simService, type SimService } from "../harness/sim-service.ts";
import { usageOf } from "./quota-harness.ts";

const quotaBytes = 1_000_000;
const blockBlob = { "x-ms-blob-type": "BlockBlob" };
const large = 600_000;

/** A request whose body counts how often it is read. */
async function upload(
  sim: SimService,
  path: string,
  length: number,
  headers: Readonly<Record<string, string>> = {},
  method = "PUT",
) {
  let isRead = false;
  async function* body() {
    isRead = true;
    yield Buffer.alloc(length, "x");
  }
  const sent: Record<string, string> = {
    host: "127.0.0.1",
    "x-ms-version": "2026-06-06",
    "content-length": String(length),
    ...headers,
  };
  const reply = await serveRequest(sim.http, {
    method,
    target: `/devstoreaccount1${withQuery(path, accountSas())}`,
    headers: sent,
    rawHeaders: Object.entries(sent).flat(),
    body: body(),
    secure: false,
    remoteAddress: "127.0.0.1",
    proceed: () => {},
  });
  return { status: reply.status, code: reply.headers["x-ms-error-code"], isRead };
}

const refused = { status: 503, code: "ServerBusy", isRead: false };
const done = { status: 201, isRead: true };

it("a blob beyond the quota of the account is rejected before its body", async () => {
  const sim = await simBlob({ quotaBytes });
  await sim.send({ method: "PUT", path: "/ccc?restype=container" });
  expect(await upload(sim, "/ccc/a", large, blockBlob)).toMatchObject(done);
  const before = await usageOf(sim);
  expect(await upload(sim, "/ccc/b", large, blockBlob)).toMatchObject(refused);
  expect(await usageOf(sim)).toEqual(before);
  // It replaces as many bytes as it adds.
  expect(await upload(sim, "/ccc/a", large, blockBlob)).toMatchObject(done);
});

it("so is a block, unless it replaces one of the same id", async () => {
  const sim = await simBlob({ quotaBytes });
  await sim.send({ method: "PUT", path: "/ccc?restype=container" });
  const block = (id: string) => `/ccc/b?comp=block&blockid=${id}`;
  expect(await upload(sim, block("AA=="), large)).toMatchObject(done);
  expect(await upload(sim, block("AQ=="), large)).toMatchObject(refused);
  expect(await upload(sim, block("AA=="), large)).toMatchObject(done);
});

it("so is an appended block", async () => {
  const sim = await simBlob({ quotaBytes });
  await sim.send({ method: "PUT", path: "/ccc?restype=container" });
  const headers = { "x-ms-blob-type": "AppendBlob" };
  await sim.send({ method: "PUT", path: "/ccc/log", headers });
  expect(await upload(sim, "/ccc/log?comp=appendblock", large)).toMatchObject(done);
  expect(await upload(sim, "/ccc/log?comp=appendblock", large)).toMatchObject(refused);
});

it.each(["", "&flush=true"])("so is data that is appended to a path%s", async (flush) => {
  const sim = await simBlob({ quotaBytes });
  await sim.sendToDfs({ method: "PUT", path: "/ccc?resource=filesystem" });
  await sim.sendToDfs({ method: "PUT", path: "/ccc/log?resource=file" });
  const router = compileRoutes(dfsService.operations);
  const dfs = { ...sim, http: { ...sim.http, service: dfsService, router } };
  const append = (position: number) =>
    upload(dfs, `/ccc/log?action=append&position=${position}${flush}`, large, {}, "PATCH");
  expect(await append(0)).toMatchObject({ ...done, status: 202 });
  expect(await append(large)).toMatchObject(refused);
});

it("so are a range and the content of a new file", async () => {
  const sim = await simService(fileService, { account: { quotaBytes }, binaryBodies: true });
  await sim.send({ method: "PUT", path: "/sss?restype=share" });
  const create = { "x-ms-type": "file", "x-ms-content-length": String(2 * large) };
  expect(await upload(sim, "/sss/f", large, create)).toMatchObject(done);
  expect(await upload(sim, "/sss/g", large, create)).toMatchObject(refused);
  expect(await upload(sim, "/sss/f", large, create)).toMatchObject(done);
  const write = (from: number) => ({
    "x-ms-write": "update",
    "x-ms-range": `bytes=${from}-${from + large - 1}`,
  });
  expect(await upload(sim, "/sss/f?comp=range", large, write(0))).toMatchObject(done);
  expect(await upload(sim, "/sss/f?comp=range", large, write(large))).toMatchObject(refused);
});

it("a file beyond the quota of its share is rejected before its content", async () => {
  const sim = await simService(fileService, { binaryBodies: true });
  const quota = { "x-ms-share-quota": "1" };
  await sim.send({ method: "PUT", path: "/sss?restype=share", headers: quota });
  const create = (length: number) => ({
    "x-ms-type": "file",
    "x-ms-content-length": String(length),
  });
  expect(await upload(sim, "/sss/f", large, create(1024 ** 3 + 1))).toMatchObject({
    status: 413,
    code: "ShareSizeLimitReached",
    isRead: false,
  });
  expect(await upload(sim, "/sss/f", large, create(large - 1))).toMatchObject({
    status: 416,
    code: "InvalidRange",
    isRead: false,
  });
  expect(await upload(sim, "/sss/f", large, create(1024 ** 3))).toMatchObject(done);
});
