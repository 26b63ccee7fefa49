import { TableServiceClient } from "@azure/data-tables";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { developmentAccountKey } from "../../src/account/settings.ts";
import type { Timeline } from "../../src/admin/api-types.ts";
import type { HistoryView } from "../../src/admin/views/health-history.ts";
import { fetchStatus, statusTable } from "../../src/cli/status-command.ts";
import { readAdminAddress } from "../../src/server/admin-address.ts";
import { freshName } from "../harness/server.ts";
import { adminServer, type AdminServer } from "./admin-server.ts";
import type { Recording } from "../../src/admin/views/timeline.ts";

const account = "devstoreaccount1";
let admin: AdminServer;
let blobs: BlobServiceClient;

beforeAll(async () => {
  admin = await adminServer();
  blobs = BlobServiceClient.fromConnectionString(admin.server.connectionString);
});
afterAll(() => admin[Symbol.asyncDispose]());

interface Leases {
  readonly leases: readonly Readonly<Record<string, unknown>>[];
  readonly next?: string;
}

const leases = (query = ""): Promise<Leases> => admin.json<Leases>(`/admin/v1/leases${query}`);

async function newContainer(): Promise<ContainerClient> {
  const container = blobs.getContainerClient(freshName("box"));
  await container.create();
  return container;
}

describe("the server and account views", () => {
  it("do not contain keys", async () => {
    const server = await admin.json("/admin/v1/server");
    expect(server).toMatchObject({ store: "memory", content: "memory", adminUrl: admin.url });
    const answer = await (await admin.get("/admin/v1/accounts")).text();
    expect(answer).not.toContain(developmentAccountKey);
    expect(JSON.parse(answer)).toMatchObject({
      accounts: [{ name: account, gateway: { blob: `/storage/blob/${account}` } }],
    });
  });

  it("return a key on explicit request", async () => {
    const response = await admin.json(`/admin/v1/accounts/${account}/key`);
    expect(response).toMatchObject({ account, keys: [developmentAccountKey] });
    expect((await admin.get("/admin/v1/accounts/unknown/key")).status).toBe(404);
  });
});

describe("SAS tokens", () => {
  it("give access to every service through the gateway", async () => {
    const { query } = await signed({ account });
    const lists = ["blob", "queue", "file"].map((service) => `${service}/${account}?comp=list&`);
    for (const path of [...lists, `table/${account}/Tables?`]) {
      const answer = await admin.get(`/storage/${path}${query}`, { "x-ms-version": "2023-11-03" });
      expect(answer.status, path).toBe(200);
      expect(answer.headers.get("content-security-policy")).toContain("sandbox");
      expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    }
  });

  it("for one blob give access to that blob only", async () => {
    const container = await newContainer();
    const path = "a folder/über.txt";
    await container.getBlockBlobClient(path).upload("text", 4);
    await container.getBlockBlobClient("other").upload("text", 4);
    const request = {
      kind: "service",
      account,
      service: "blob",
      container: container.containerName,
    };
    const extra = { permissions: "r", contentType: "text/html" };
    const sas = await signed({ ...request, path, ...extra });
    const read = await fetch(sas.url ?? "");
    expect(await read.text()).toBe("text");
    expect(read.headers.get("content-type")).toBe("text/html");
    expect(await (await admin.get(sas.gatewayUrl ?? "")).text()).toBe("text");
    const other = new URL(sas.url ?? "");
    other.pathname = `/${account}/${container.containerName}/other`;
    expect((await fetch(other)).status).toBe(403);
  });

  it("for a queue, a table and a share give access to these", async () => {
    const { connectionString } = admin.server;
    const name = freshName("thing");
    await QueueServiceClient.fromConnectionString(connectionString).createQueue(name);
    const insecure = { allowInsecureConnection: true };
    await TableServiceClient.fromConnectionString(connectionString, insecure).createTable(name);
    await ShareServiceClient.fromConnectionString(connectionString).createShare(name);
    const request = { kind: "service", account, container: name };
    const queue = await signed({ ...request, service: "queue", permissions: "rp" });
    expect((await fetch(queue.url?.replace("?", "/messages?") ?? "")).status).toBe(200);
    const table = await signed({ ...request, service: "table", permissions: "r" });
    expect((await fetch(table.url?.replace("?", "()?") ?? "")).status).toBe(200);
    const share = await signed({ ...request, service: "file", permissions: "rl" });
    const listing = `${share.url}&restype=directory&comp=list`;
    expect((await fetch(listing)).status).toBe(200);
  });

  it.each([
    [{}, "account is missing"],
    [{ account, minutes: -1 }, "minutes"],
    [{ account, nonsense: "x" }, "nonsense"],
    [{ account, kind: "service", service: "blob", permissions: "r" }, "container is missing"],
    [
      { account, kind: "service", service: "queue", container: "q", path: "p", permissions: "r" },
      "path",
    ],
    [{ account, kind: "service", service: "blob", container: "c\nd", permissions: "r" }, "control"],
  ])("are not created from %j", async (request, problem) => {
    const answer = await admin.post("/admin/v1/sas", request);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(problem);
  });
});

interface Signed {
  readonly query: string;
  readonly url?: string;
  readonly gatewayUrl?: string;
}

async function signed(request: object): Promise<Signed> {
  const answer = await admin.post("/admin/v1/sas", request);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Signed;
}

describe("the view of held leases", () => {
  it("lists leases of blobs, containers, files and shares, ordered by expiry", async () => {
    const container = await newContainer();
    const blob = container.getBlockBlobClient("a/b.txt");
    await blob.upload("x", 1);
    const service = ShareServiceClient.fromConnectionString(admin.server.connectionString);
    const share = service.getShareClient(freshName("share"));
    await share.create();
    const folder = share.getDirectoryClient("folder");
    await folder.create();
    const { fileClient } = await folder.createFile("File.txt", 10);
    const ids = [
      (await blob.getBlobLeaseClient().acquireLease(50)).leaseId,
      (await container.getBlobLeaseClient().acquireLease(60)).leaseId,
      (await fileClient.getShareLeaseClient().acquireLease()).leaseId,
      (await share.getShareLeaseClient().acquireLease(-1)).leaseId,
    ];
    const found = (await leases()).leases.filter(({ id }) => ids.includes(String(id)));
    expect(found).toMatchObject([
      { kind: "blob", container: container.containerName, path: "a/b.txt", durationSeconds: 50 },
      { kind: "container", container: container.containerName, id: ids[1], state: "leased" },
      { kind: "file", container: share.name, path: "folder/File.txt", secondsLeft: null },
      { kind: "share", container: share.name, id: ids[3], durationSeconds: -1 },
    ]);
    expect(found[0]?.["secondsLeft"]).toBeGreaterThan(10);
  });

  it("lists leases of share snapshots and can break them", async () => {
    const service = ShareServiceClient.fromConnectionString(admin.server.connectionString);
    const share = service.getShareClient(freshName("share"));
    await share.create();
    const { snapshot = "" } = await share.createSnapshot();
    const leased = share.withSnapshot(snapshot).getShareLeaseClient();
    const { leaseId } = await leased.acquireLease(-1);
    const found = (await leases()).leases.find(({ id }) => id === leaseId);
    expect(found).toMatchObject({ kind: "share", container: share.name, snapshot });
    const place = { kind: "share", account, container: share.name, snapshot };
    expect((await admin.post("/admin/v1/leases/break", place)).status).toBe(200);
    expect((await leases()).leases.some(({ id }) => id === leaseId)).toBe(false);
  });

  it("omits leases that were released, expired or broken, or whose blob was deleted", async () => {
    const container = await newContainer();
    const ends: Record<string, (blob: string, id: string) => Promise<unknown>> = {
      released: (blob, id) => container.getBlobClient(blob).getBlobLeaseClient(id).releaseLease(),
      broken: (blob) => container.getBlobClient(blob).getBlobLeaseClient().breakLease(0),
      deleted: (blob, id) => container.getBlobClient(blob).delete({ conditions: { leaseId: id } }),
      expired: async () => admin.clock.skip(16),
    };
    for (const [name, end] of Object.entries(ends)) {
      const blob = container.getBlockBlobClient(name);
      await blob.upload("x", 1);
      const { leaseId = "" } = await blob.getBlobLeaseClient().acquireLease(15);
      const held = async () => (await leases()).leases.some(({ id }) => id === leaseId);
      expect(await held(), name).toBe(true);
      await end(name, leaseId);
      expect(await held(), name).toBe(false);
    }
  });

  it("omits the leases of a deleted container at once", async () => {
    const container = await newContainer();
    const blob = container.getBlockBlobClient("b");
    await blob.upload("x", 1);
    const { leaseId } = await blob.getBlobLeaseClient().acquireLease(-1);
    await container.delete();
    expect((await leases()).leases.some(({ id }) => id === leaseId)).toBe(false);
  });

  it("is paged", async () => {
    const container = await newContainer();
    const ids = new Set<unknown>();
    for (const name of ["1", "2", "3", "4", "5"]) {
      const blob = container.getBlockBlobClient(name);
      await blob.upload("x", 1);
      ids.add((await blob.getBlobLeaseClient().acquireLease(60)).leaseId);
    }
    const pages: Leases[] = [];
    let after = "";
    do {
      const page = await leases(`?limit=2${after}`);
      pages.push(page);
      after = page.next === undefined ? "" : `&after=${encodeURIComponent(page.next)}`;
    } while (after !== "");
    expect(pages.every((page) => page.leases.length <= 2)).toBe(true);
    const found = pages.flatMap((page) => page.leases.map(({ id }) => id));
    expect(new Set(found).size).toBe(found.length);
    expect([...ids].every((id) => found.includes(id))).toBe(true);
  });

  it("breaks a lease with or without a break period", async () => {
    const container = await newContainer();
    const blob = container.getBlockBlobClient("a b/ü.txt");
    await blob.upload("x", 1);
    const { leaseId } = await blob.getBlobLeaseClient().acquireLease(60);
    const place = { kind: "blob", account, container: container.containerName, path: blob.name };
    const broken = await admin.post("/admin/v1/leases/break", { ...place, periodSeconds: 10 });
    expect(await broken.json()).toEqual({ secondsLeft: 10 });
    const found = (await leases()).leases.find(({ id }) => id === leaseId);
    expect(found).toMatchObject({ state: "breaking" });
    const again = await admin.post("/admin/v1/leases/break", place);
    expect(await again.json()).toEqual({ secondsLeft: 0 });
    expect((await blob.getProperties()).leaseState).toBe("broken");
    const none = await admin.post("/admin/v1/leases/break", { ...place, path: "none" });
    expect(none.status).toBe(404);
    expect(await none.json()).toMatchObject({ error: { code: "BlobNotFound" } });
  });

  it("is complete after a restart", async () => {
    const location = mkdtempSync(join(tmpdir(), "etagere-admin-"));
    try {
      const before = await adminServer({ location });
      expect(await readAdminAddress(location)).toMatchObject({ url: before.url });
      const { connectionString } = before.server;
      const service = BlobServiceClient.fromConnectionString(connectionString);
      const container = service.getContainerClient("kept");
      await container.create();
      const { leaseId } = await container.getBlobLeaseClient().acquireLease(-1);
      await before[Symbol.asyncDispose]();
      expect(await readAdminAddress(location)).toBeUndefined();
      await using after = await adminServer({ location });
      expect(await after.json("/admin/v1/leases")).toMatchObject({
        leases: [{ kind: "container", container: "kept", id: leaseId }],
      });
    } finally {
      rmSync(location, { recursive: true, force: true });
    }
  });
});

it("a timeline contains objects that only a share snapshot still contains", async () => {
  const service = ShareServiceClient.fromConnectionString(admin.server.connectionString);
  const share = service.getShareClient(freshName("share"));
  await share.create();
  const { fileClient: file } = await share.createFile("a.txt", 4);
  const before = await file.uploadRange("aaaa", 0, 4);
  await share.createSnapshot();
  const after = await file.uploadRange("bbbb", 0, 4);
  const path = `service=file&account=${account}&container=${share.name}&path=a.txt`;
  const { etag, entries } = await admin.json<Timeline>(`/admin/v1/timeline?${path}`);
  expect(etag).toBe(after.etag);
  expect(entries.filter(({ what }) => what !== "write")).toMatchObject([
    { what: "current", etag: after.etag, contentLength: 4 },
    { what: "snapshot", etag: before.etag, contentLength: 4 },
  ]);
  // The requests are recorded without a subscriber.
  const writes = entries.filter(({ what }) => what === "write");
  expect(writes.map(({ operation }) => operation)).toEqual([
    "Put Range",
    "Put Range",
    "Create File",
  ]);
  const gone = await admin.json(`/admin/v1/timeline?${path.replace("a.txt", "none")}`);
  expect(gone).toMatchObject({ etag: null, entries: [] });
  expect((await admin.get("/admin/v1/timeline?service=nonsense")).status).toBe(400);
});

it("the states of a blob are listed from the newest on, with the older states page by page", async () => {
  const container = await newContainer();
  const blob = container.getBlockBlobClient("kept.txt");
  await blob.upload("x", 1);
  await container.getBlockBlobClient("kept.txt2").upload("other", 5);
  const taken: string[] = [];
  for (let index = 0; index < 5; index += 1) {
    taken.unshift((await blob.createSnapshot()).snapshot ?? "");
  }
  const query = `?service=blob&account=${account}&container=${container.containerName}&path=kept.txt`;
  const seen: (string | undefined)[] = [];
  let after = "";
  for (const length of [3, 2, 1]) {
    const page = await admin.json<StatesPage>(`/admin/v1/states${query}&limit=2${after}`);
    expect(page.states).toHaveLength(length);
    seen.push(...page.states.map(({ what, snapshot }) => snapshot ?? what));
    expect(page.next === undefined).toBe(length === 1);
    after = `&after=${encodeURIComponent(page.next ?? "")}`;
  }
  expect(seen).toEqual(["current", ...taken]);
  expect((await admin.get(`/admin/v1/states${query}&after=AAAA`)).status).toBe(400);
  const ofContainer = query.replace("&path=kept.txt", "");
  expect((await admin.get(`/admin/v1/states${ofContainer}`)).status).toBe(400);
});

interface StatesPage {
  readonly states: readonly { readonly what: string; readonly snapshot?: string }[];
  readonly next?: string;
}

it("health counts requests, commits and commit batches", async () => {
  await admin.json("/admin/v1/health");
  const container = await newContainer();
  await container.getBlockBlobClient("b").upload("x", 1);
  admin.clock.skip(2);
  const health = await admin.json<HealthRates>("/admin/v1/health");
  expect(health).toMatchObject({
    requests: { total: expect.any(Number) },
    services: { blob: { latencySeconds: { p50: expect.any(Number), p99: expect.any(Number) } } },
    store: { transactions: expect.any(Number), batch: { mean: expect.any(Number) } },
    process: { residentBytes: expect.any(Number) },
  });
  expect(health.requests.perSecond).toBeGreaterThan(0);
  expect(health.store.perSecond).toBeGreaterThan(0);
});

interface HealthRates {
  readonly requests: { readonly perSecond: number };
  readonly store: { readonly perSecond: number };
}

it("status prints the same values as a table", async () => {
  const container = await newContainer();
  const blob = container.getBlockBlobClient("evil\u001b[2Jname");
  await blob.upload("x", 1);
  const { leaseId = "" } = await blob.getBlobLeaseClient().acquireLease(60);
  const table = statusTable(await fetchStatus({ url: admin.url }), 200);
  expect(table).toContain(`Etagere `);
  const row = table.split("\n").find((line) => line.includes(leaseId));
  const left = /^blob {2,}leased +(\d+) s +\S+ +devstoreaccount1\/.*\/evil\?\[2Jname$/;
  // The time left is rounded, and the clock runs.
  expect(Number(left.exec(row ?? "")?.[1])).toBeGreaterThan(10);
  expect(Number(left.exec(row ?? "")?.[1])).toBeLessThanOrEqual(60);
});

it("a recording has requests and holds of a period, of one object or of all", async () => {
  const container = await newContainer();
  const blob = container.getBlockBlobClient("recorded.txt");
  const { etag = "" } = await blob.upload("x", 1);
  const second = await blob.upload("y", 1);
  const stale = blob.upload("z", 1, { conditions: { ifMatch: etag } });
  await expect(stale).rejects.toThrow();
  const query = `service=blob&account=${account}&container=${container.containerName}`;
  const path = `/admin/v1/recording?${query}&path=recorded.txt&seconds=600`;
  const { events, ...recording } = await admin.json<Recording>(path);
  expect(recording).toMatchObject({ format: "etagere-recording", version: 1 });
  expect(events.map(({ what, status }) => [what, status])).toEqual([
    ["write", 201],
    ["write", 201],
    ["refused", 412],
  ]);
  expect(events[2]?.condition).toMatchObject({ header: "If-Match", actual: second.etag });
  const all = await admin.json<Recording>("/admin/v1/recording?seconds=600");
  expect(all.events.length).toBeGreaterThan(events.length);
  for (const wrong of ["seconds=0", "seconds=3601", "seconds=x", "service=nonsense", "other=1"]) {
    expect((await admin.get(`/admin/v1/recording?${wrong}`)).status).toBe(400);
  }
});

it("the history of the figures is kept by second and by minute", async () => {
  const everySeconds = async (every: string): Promise<number> =>
    (await admin.json<HistoryView>(`/admin/v1/health/history${every}`)).everySeconds;
  expect(await everySeconds("")).toBe(1);
  expect(await everySeconds("?every=60")).toBe(60);
  expect((await admin.get("/admin/v1/health/history?every=5")).status).toBe(400);
});
