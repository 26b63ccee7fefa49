import { spawnSync } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EventStream } from "../admin/event-stream.ts";
import { accountSas, rawClient, type RawClient } from "../harness/raw-client.ts";
import { startCommand } from "../cli/start-command.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import { acknowledgeOplock, close, lockBody, openFile } from "../smb-wire/wire-messages.ts";
import {
  command,
  freePorts,
  freshConnections,
  startWorkers,
  untilAllAnswered,
  type WorkerServer,
} from "./worker-server.ts";

const folder = temporaryFolder();
const lockCommand = 10;
const exclusiveLock = 0x12;
const batchOplock = 9;
const blockBlob = { "x-ms-blob-type": "BlockBlob" };

describe("a server with two workers", () => {
  let server: WorkerServer;
  let blob: RawClient;

  beforeAll(async () => {
    server = await startWorkers(folder, "--oauth=basic");
    blob = freshConnections(server.urlOf("blob"));
    const path = "/shared?restype=container";
    expect((await blob.send({ method: "PUT", path })).status).toBe(201);
  });
  afterAll(async () => {
    expect(await server.end()).toBe(0);
    const closing = server.lines.filter((line) => line.endsWith("successfully closed"));
    expect(closing).toHaveLength(5);
  });

  it("prints each line once", () => {
    const listening = server.lines.filter((line) => line.includes("is successfully listening"));
    expect(listening.map((line) => line.replace(/ at .*/, ""))).toEqual([
      "Azurite Blob service is successfully listening",
      "Azurite Queue service is successfully listening",
      "Azurite Table service is successfully listening",
      "Azurite File service is successfully listening",
      "Azurite Dfs service is successfully listening",
      "Etagere SMB endpoint is successfully listening",
      "Etagere admin is successfully listening",
    ]);
    expect(server.lines.filter((line) => line.startsWith("Etagere explorer"))).toHaveLength(1);
    expect(server.errors().match(/--oauth: without --cert/g)).toHaveLength(1);
  });

  it("rejects a write without the lease id on every worker", async () => {
    const path = "/shared/leased";
    const put = { method: "PUT", path, headers: blockBlob, body: "a" };
    expect((await blob.send(put)).status).toBe(201);
    const headers = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
    const lease = await blob.send({ method: "PUT", path: `${path}?comp=lease`, headers });
    expect(lease.status).toBe(201);
    const statuses = await untilAllAnswered(server, async () => (await blob.send(put)).status);
    expect(new Set(statuses)).toEqual(new Set([412]));
  });

  it("shows the events and figures of all workers", async () => {
    const feed = await EventStream.open(server.urlOf("admin"), "refused");
    const path = "/shared/missing";
    const before = await requestsWith(server, 412);
    const statuses = await untilAllAnswered(server, async () => {
      const headers = { ...blockBlob, "if-match": '"0x1"' };
      return (await blob.send({ method: "PUT", path, headers, body: "a" })).status;
    });
    expect(new Set(statuses)).toEqual(new Set([412]));
    for (const status of statuses) expect(await feed.next("refused")).toMatchObject({ status });
    await feed.close();
    expect(await requestsWith(server, 412)).toBe(before + statuses.length);
  });

  it("shows the reads of a watched object on all workers", async () => {
    const path = "/shared/watched";
    const put = { method: "PUT", path, headers: blockBlob, body: "a" };
    const { headers: written } = await blob.send(put);
    const object = "service=blob&account=devstoreaccount1&container=shared&path=watched";
    const feed = await EventStream.open(server.urlOf("admin"), `read&${object}`);
    const statuses = await untilAllAnswered(server, async () => {
      await blob.send({ method: "GET", path: "/shared/leased" });
      return (await blob.send({ method: "GET", path })).status;
    });
    const read = { operation: "Get Blob", path: "watched", etag: written["etag"] };
    for (const status of statuses) {
      expect(await feed.next("read")).toMatchObject({ ...read, status });
    }
    await feed.close();
  });

  it("lets SMB locks and caching apply to REST requests on every worker", async () => {
    const file = freshConnections(server.urlOf("file"));
    const path = "/locked/a.txt";
    const create = { "x-ms-type": "file", "x-ms-content-length": "10" };
    await file.send({ method: "PUT", path: "/locked?restype=share" });
    expect((await file.send({ method: "PUT", path, headers: create })).status).toBe(201);
    const smb = await WireClient.ready(server.urlOf("smb"), "locked");
    const handle = await openFile(smb, "a.txt", { oplock: batchOplock });
    const reading = file.send({ method: "GET", path });
    await smb.noticed(1);
    await acknowledgeOplock(smb, handle, 0);
    expect((await reading).status).toBe(200);
    await smb.ask(lockCommand, lockBody(handle, { at: 2, length: 3, flags: exclusiveLock }));
    const headers = { "x-ms-range": "bytes=4-5", "x-ms-write": "update" };
    const write = async (): Promise<number> =>
      (await file.send({ method: "PUT", path: `${path}?comp=range`, headers, body: "xy" })).status;
    expect(new Set(await untilAllAnswered(server, write))).toEqual(new Set([409]));
    await close(smb, handle);
    expect(new Set(await untilAllAnswered(server, write))).toEqual(new Set([201]));
    smb.end();
  });

  it("copies from a blob of its own on every worker", async () => {
    const url = server.urlOf("blob");
    const put = { method: "PUT", path: "/shared/source", headers: blockBlob, body: "abc" };
    expect((await blob.send(put)).status).toBe(201);
    const source = `${url}/devstoreaccount1/shared/source?${accountSas()}`;
    const statuses = await untilAllAnswered(server, async () => {
      const copy = { "x-ms-copy-source": source, "x-ms-requires-sync": "true" };
      return (await blob.send({ method: "PUT", path: "/shared/copy", headers: copy })).status;
    });
    expect(new Set(statuses)).toEqual(new Set([202]));
  });
});

async function requestsWith(server: WorkerServer, status: number): Promise<number> {
  const text = await (await fetch(`${server.urlOf("admin")}/metrics`)).text();
  const form = new RegExp(`^etagere_requests_total\\{.*status="${status}"\\} (\\d+)$`, "gm");
  return [...text.matchAll(form)].reduce((sum, [, count]) => sum + Number(count), 0);
}

describe("--workers", () => {
  function run(...words: readonly string[]) {
    const [program = "", ...rest] = [...command, ...words];
    const { status, stderr } = spawnSync(program, rest, { cwd: folder, encoding: "utf8" });
    return { status, stderr };
  }

  it("reports once that a port is in use", async () => {
    const occupant = createServer();
    await new Promise<void>((listening) => occupant.listen(0, "127.0.0.1", listening));
    const { port } = occupant.address() as AddressInfo;
    const { status, stderr } = run("--workers=2", ...freePorts.slice(1), `--blobPort=${port}`);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^etagere: Blob service: port \d+ of 127.0.0.1 is in use .*\n$/);
    await new Promise((closed) => occupant.close(closed));
  });

  it("reports why a worker did not start", () => {
    const { status, stderr } = run("--workers=2", ...freePorts, "--config=missing.json");
    expect(status).toBe(1);
    expect(stderr).toMatch(/^etagere: missing.json: cannot be read .*\n$/);
  });
});

it("is one process by default, with the figures of one", async () => {
  const words = [...command, ...freePorts, "--workers=1", "--inMemoryPersistence"];
  const server = await startCommand(words);
  const response = await rawClient(server.urlOf("blob")).send({
    method: "GET",
    path: "/?comp=list",
  });
  expect(response.status).toBe(200);
  const metrics = await (await fetch(`${server.urlOf("admin")}/metrics`)).text();
  expect(metrics).not.toContain("etagere_workers");
  expect(await server.end()).toBe(0);
});
