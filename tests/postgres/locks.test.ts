import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ShareServiceClient, type ShareFileClient } from "@azure/storage-file-share";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { start, type EtagereServer } from "../../src/index.ts";
import { realClock } from "../../src/host/world.ts";
import { heartbeatTimeoutMilliseconds, openNodes } from "../../src/store/nodes.ts";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import { startChild } from "../harness/child-server.ts";
import { freePorts } from "../harness/server.ts";
import { silentLog } from "../harness/silent-log.ts";
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

/** Starts another node, which fences the nodes that `choose` selects. `self` is never reused. */
async function fenceNodes(self: string, choose: (id: string) => boolean): Promise<void> {
  const own = { node: self, clock: realClock(), log: silentLog };
  const records = await openPostgresStore({ url: store, ...own });
  const ephemeral = await openPostgresStore({ url: store, ...own, ephemeral: true });
  const fence = (node: string) => records.fence(node);
  const assertNotFenced = () => records.assertNotFenced();
  const nodes = await openNodes({
    ...own,
    store: ephemeral,
    self,
    fence,
    assertNotFenced,
  });
  for (const { id } of await nodes.live()) if (id !== self && choose(id)) await fence(id);
  for (const each of [nodes, ephemeral, records]) await each.close();
}

// The node learns from a heartbeat that it was fenced. When it has left the list, the other node
// closes its handles.
describe.runIf(isLong)("SMB clients of a node that was fenced", () => {
  it("are disconnected, so that they drop what they cache", { timeout: 60_000 }, async () => {
    const present = new Set<string>();
    await fenceNodes("first", (id) => (present.add(id), false));
    await using there = await start({ ...freePorts, location: folder, store });
    const file = await fileOf("c.txt");
    const client = await WireClient.ready(there.smbUrl, share);
    await openFile(client, "c.txt", { share: shareNothing });
    expect(await codeOf(file.download())).toBe("SharingViolation");
    await fenceNodes("second", (id) => !present.has(id));
    await client.closed;
    while ((await codeOf(file.download())) === "SharingViolation") {
      await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
    }
  });
});
