import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ShareServiceClient, type ShareFileClient } from "@azure/storage-file-share";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { start, type EtagereServer } from "../../src/index.ts";
import { heartbeatTimeoutMilliseconds } from "../../src/store/nodes.ts";
import { startChild } from "../harness/child-server.ts";
import { freePorts } from "../harness/server.ts";
import { Status } from "../../src/smb/status.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import { Access, close, createBody, openFile } from "../smb-wire/wire-messages.ts";
import { openDatabase, type Database } from "./database.ts";

/** Needs 30 s of wall-clock time without heartbeats: `npm run test:cluster`. */
const isLong = process.env["ETAGERE_CLUSTER"] === "1";
const pollMilliseconds = 250;
/** One heartbeat after the time-out, one until it is noticed, and a sweep. */
const sweepMilliseconds = 30_000;
const share = "shared";
const shareNothing = 0;

let database: Database;
let folder: string;
let store: string;
let here: EtagereServer;

beforeAll(async () => {
  database = await openDatabase();
  folder = await mkdtemp(join(tmpdir(), "etagere-locks-"));
  store = database.newUrl();
  here = await start({ ...freePorts, location: folder, store });
  await shareAt(here.connectionString).create();
});

afterAll(async () => {
  await here.stop();
  await database.stop();
  await rm(folder, { recursive: true, force: true });
});

const shareAt = (connectionString: string) =>
  ShareServiceClient.fromConnectionString(connectionString, {
    retryOptions: { maxTries: 1 },
  }).getShareClient(share);

async function fileOf(name: string): Promise<ShareFileClient> {
  const file = shareAt(here.connectionString).rootDirectoryClient.getFileClient(name);
  await file.create(4);
  await file.uploadRange("text", 0, 4);
  return file;
}

async function codeOf(work: Promise<unknown>): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

describe("REST on one node, SMB on another", () => {
  it("block and unblock each other", async () => {
    await using there = await start({ ...freePorts, location: folder, store });
    const file = await fileOf("a.txt");
    const client = await WireClient.ready(there.smbUrl, share);
    const handle = await openFile(client, "a.txt", { share: shareNothing });
    expect(await codeOf(file.download())).toBe("SharingViolation");
    await close(client, handle);
    expect(await codeOf(file.download())).toBeUndefined();

    const lease = file.getShareLeaseClient();
    await lease.acquireLease(-1);
    const refused = await client.ask(5, createBody("a.txt", { access: Access.write }));
    expect(refused.status).toBe(Status.sharingViolation);
    await lease.releaseLease();
    await close(client, await openFile(client, "a.txt", { access: Access.write }));
    client.end();
  });
});

describe.runIf(isLong)("the locks of a killed node", () => {
  it("are kept until the node is fenced, then removed", { timeout: 180_000 }, async () => {
    const there = await startChild(folder, [`--store=${store}`, "--silent"]);
    const file = await fileOf("b.txt");
    const client = await WireClient.ready(there.urls.smb, share);
    await openFile(client, "b.txt", { share: shareNothing });
    expect(await codeOf(file.download())).toBe("SharingViolation");
    await there.kill("SIGKILL");
    const killedAt = Date.now();
    while ((await codeOf(file.download())) === "SharingViolation") {
      expect(Date.now() - killedAt).toBeLessThan(heartbeatTimeoutMilliseconds + sweepMilliseconds);
      await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
    }
    const held = Date.now() - killedAt;
    console.log(`a killed node's lock was gone after ${(held / 1000).toFixed(1)} s`);
    // Its last heartbeat may precede the kill by one interval.
    expect(held).toBeGreaterThan(heartbeatTimeoutMilliseconds - 6_000);
    expect(await codeOf(file.download())).toBeUndefined();
  });
});
