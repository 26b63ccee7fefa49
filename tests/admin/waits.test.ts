import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { expect, it } from "vitest";
import { WireClient } from "../smb-wire/wire-client.ts";
import {
  Access,
  acknowledgeOplock,
  createBody,
  handleOf,
  lockBody,
  openFile,
} from "../smb-wire/wire-messages.ts";
import { adminServer, type AdminServer } from "./admin-server.ts";
import { EventStream } from "./event-stream.ts";

const account = "devstoreaccount1";
const lockCommand = 10;
const createCommand = 5;
const exclusive = 0x12;
const exclusiveWaiting = 0x02;
const batchOplock = 9;

interface Waits {
  readonly waits: readonly {
    readonly kind: string;
    readonly waiter: { readonly client: string };
    readonly [name: string]: unknown;
  }[];
  readonly cycles: readonly (readonly string[])[];
}

async function withShare(): Promise<AdminServer> {
  const admin = await adminServer();
  const service = ShareServiceClient.fromConnectionString(admin.server.connectionString);
  await service.getShareClient("docs").create();
  return admin;
}

const look = (admin: AdminServer): Promise<Waits> => admin.json<Waits>("/admin/v1/waits");

it("shows SMB requests that wait for byte-range locks, and clients that wait for each other", async () => {
  await using admin = await withShare();
  const one = await WireClient.ready(admin.server.smbUrl, "docs");
  const two = await WireClient.ready(admin.server.smbUrl, "docs");
  const [a1, b1] = [await openFile(one, "a.txt"), await openFile(one, "b.txt")];
  const [a2, b2] = [await openFile(two, "a.txt"), await openFile(two, "b.txt")];
  await one.ask(lockCommand, lockBody(a1, { at: 0, length: 10, flags: exclusive }));
  await two.ask(lockCommand, lockBody(b2, { at: 5, length: 10, flags: exclusive }));
  expect(await look(admin)).toMatchObject({ waits: [], cycles: [] });
  // Its answer never arrives: the connection ends first.
  void one.ask(lockCommand, lockBody(b1, { at: 9, length: 1, flags: exclusiveWaiting }));
  await one.interim(1);
  const [first] = (await look(admin)).waits;
  expect(first).toMatchObject({
    kind: "lock",
    service: "file",
    account,
    container: "docs",
    path: "b.txt",
    waiter: { operation: "LOCK" },
    holders: [{ what: "exclusive lock of 10 bytes at 5" }],
  });
  const closing = two.ask(lockCommand, lockBody(a2, { at: 1, length: 1, flags: exclusiveWaiting }));
  await two.interim(1);
  const { waits, cycles } = await look(admin);
  expect(waits).toHaveLength(2);
  expect(cycles).toEqual([waits.map(({ waiter }) => waiter.client)]);
  one.end();
  expect((await closing).status).toBe(0);
  await expect.poll(async () => (await look(admin)).waits).toEqual([]);
  two.end();
});

it("shows an open that waits for another client to write its cache", async () => {
  await using admin = await withShare();
  const holder = await WireClient.ready(admin.server.smbUrl, "docs");
  const access = { access: Access.write, share: 7, disposition: 3 };
  const opened = await holder.ask(
    createCommand,
    createBody("c.txt", { ...access, oplock: batchOplock }),
  );
  const waiter = await WireClient.ready(admin.server.smbUrl, "docs");
  const waiting = waiter.ask(createCommand, createBody("c.txt", access));
  await waiter.interim(1);
  expect((await look(admin)).waits).toMatchObject([
    {
      kind: "break",
      path: "c.txt",
      waiter: { operation: "CREATE" },
      holders: [{ what: expect.stringContaining("caching RWH, asked to keep") }],
    },
  ]);
  const share = ShareServiceClient.fromConnectionString(admin.server.connectionString);
  const file = share.getShareClient("docs").rootDirectoryClient.getFileClient("c.txt");
  const reading = file.download();
  await expect.poll(async () => (await look(admin)).waits.length).toBe(2);
  const [, rest] = (await look(admin)).waits;
  expect(rest).toMatchObject({ path: "c.txt", waiter: { client: "REST", operation: "Get File" } });
  await acknowledgeOplock(holder, handleOf(opened), 1);
  expect((await waiting).status).toBe(0);
  await reading;
  expect((await look(admin)).waits).toEqual([]);
  for (const client of [holder, waiter]) client.end();
});

it("shows clients that are rejected because of a lease, with its holder", async () => {
  await using admin = await adminServer();
  const feed = await EventStream.open(admin.url, "refused,lease");
  const blobs = BlobServiceClient.fromConnectionString(admin.server.connectionString);
  const container = blobs.getContainerClient("leased");
  await container.create();
  const blob = container.getBlockBlobClient("a.txt");
  await blob.upload("a", 1);
  const { leaseId } = await blob.getBlobLeaseClient().acquireLease(60);
  for (const _ of [1, 2]) await expect(blob.upload("b", 1)).rejects.toThrow("lease");
  await feed.next("refused");
  expect((await look(admin)).waits).toMatchObject([
    {
      kind: "lease",
      service: "blob",
      container: "leased",
      path: "a.txt",
      attempts: 2,
      waiter: { client: "127.0.0.1", operation: "Put Blob" },
      holders: [{ client: "127.0.0.1", lease: leaseId }],
    },
  ]);
  admin.clock.skip(61);
  expect((await look(admin)).waits).toEqual([]);
  await feed.close();
});
