import { ShareServiceClient, type ShareClient } from "@azure/storage-file-share";
import { afterAll, beforeAll, expect, it } from "vitest";
import { freshName } from "../harness/server.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import {
  Access,
  createBody,
  handleOf,
  lockBody,
  openFile,
  read,
  setDeletePending,
} from "../smb-wire/wire-messages.ts";
import { adminServer, type AdminServer } from "./admin-server.ts";
import { EventStream } from "./event-stream.ts";

const account = "devstoreaccount1";
let admin: AdminServer;
let share: ShareClient;

beforeAll(async () => {
  admin = await adminServer();
  const { connectionString } = admin.server;
  const service = ShareServiceClient.fromConnectionString(connectionString);
  share = service.getShareClient(freshName("share"));
  await share.create();
  await share.createDirectory("folder");
});
afterAll(() => admin[Symbol.asyncDispose]());

interface View {
  readonly sessions: readonly Readonly<Record<string, unknown>>[];
  readonly files: readonly FileView[];
}

interface FileView {
  readonly path: string;
  readonly fileId: string;
  readonly [name: string]: unknown;
}

const look = (): Promise<View> => admin.json<View>("/admin/v1/smb");
const ready = (): Promise<WireClient> => WireClient.ready(admin.server.smbUrl, share.name);

async function fileOf(path: string): Promise<FileView | undefined> {
  return (await look()).files.find((file) => file.path === path);
}

it("lists sessions, opens, share modes, locks, caching grants and delete-pending files", async () => {
  const client = await ready();
  const asked = { access: Access.read, share: 5, oplock: 9 };
  const opened = await client.ask(5, createBody("folder\\a.txt", { ...asked, disposition: 3 }));
  const handle = handleOf(opened);
  await client.ask(10, lockBody(handle, { at: 7, length: 5, flags: 0x12 }));
  const { sessions } = await look();
  expect(sessions).toMatchObject([{ account, shares: [share.name], opens: 1 }]);
  expect(sessions[0]?.["client"]).toMatch(/^127\.0\.0\.1:\d+$/);
  expect(await fileOf("folder/a.txt")).toMatchObject({
    account,
    share: share.name,
    isDirectory: false,
    deletePending: false,
    opens: [
      {
        id: String(handle.persistent),
        session: sessions[0]?.["id"],
        access: expect.arrayContaining(["Read"]),
        shareMode: ["Read", "Delete"],
      },
    ],
    locks: [{ open: String(handle.persistent), offset: "7", length: "5", exclusive: true }],
    caches: [{ kind: "oplock", held: "RWH" }],
  });
  client.end();
});

it("lists files that are delete-on-close", async () => {
  const client = await ready();
  const handle = await openFile(client, "going.txt");
  await setDeletePending(client, handle, true);
  expect(await fileOf("going.txt")).toMatchObject({ deletePending: true });
  client.end();
});

it("closes a handle, which deletes its delete-pending file", async () => {
  const client = await ready();
  const handle = await openFile(client, "forced.txt");
  const file = share.rootDirectoryClient.getFileClient("forced.txt");
  await setDeletePending(client, handle, true);
  const { fileId } = (await fileOf("forced.txt")) ?? { fileId: "" };
  const place = { account, share: share.name, fileId };
  const open = String(handle.persistent);
  const other = await admin.post("/admin/v1/smb/close", { ...place, open: "1" });
  expect(await other.json()).toEqual({ closed: 0 });
  const closed = await admin.post("/admin/v1/smb/close", { ...place, open });
  expect(await closed.json()).toEqual({ closed: 1 });
  expect(await file.exists()).toBe(false);
  client.end();
});

it("ends a session and closes its handles", async () => {
  const client = await ready();
  await openFile(client, "ended.txt");
  const { sessions } = await look();
  const id = String(sessions.at(-1)?.["id"]);
  expect((await admin.post(`/admin/v1/smb/sessions/${id}/close`)).status).toBe(204);
  expect(await fileOf("ended.txt")).toBeUndefined();
  expect((await look()).sessions.map((session) => session["id"])).not.toContain(id);
  expect((await admin.post(`/admin/v1/smb/sessions/${id}/close`)).status).toBe(404);
  client.end();
});

it("reports which SMB open blocked a REST request", async () => {
  const feed = await EventStream.open(admin.url);
  const client = await ready();
  const handle = await openFile(client, "shared.txt", { access: Access.read, share: 0 });
  const file = share.rootDirectoryClient.getFileClient("shared.txt");
  await expect(file.setMetadata({ a: "b" })).rejects.toThrow();
  expect(await feed.next("refused")).toMatchObject({
    service: "file",
    container: share.name,
    path: "shared.txt",
    status: 409,
    code: "SharingViolation",
    rule: "decision",
    heldBy: [{ open: String(handle.persistent) }],
  });
  expect((await read(client, handle, 1)).status).not.toBe(0);
  const locking = await openFile(client, "locked.txt");
  await client.ask(10, lockBody(locking, { at: 0, length: 5, flags: 0x12 }));
  const locked = share.rootDirectoryClient.getFileClient("locked.txt");
  await locked.resize(10);
  await expect(locked.uploadRange("x", 2, 1)).rejects.toThrow();
  expect(await feed.next("refused")).toMatchObject({
    path: "locked.txt",
    code: "FileLockConflict",
    heldBy: [{ open: String(locking.persistent) }],
  });
  client.end();
  await feed.close();
});
