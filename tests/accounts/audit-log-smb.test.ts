import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ShareServiceClient } from "@azure/storage-file-share";
import { expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { WireClient } from "../smb-wire/wire-client.ts";
import {
  Access,
  close,
  createBody,
  lockBody,
  openFile,
  read,
  renameInfo,
  setInfo,
  write,
} from "../smb-wire/wire-messages.ts";

const auditLog = join(temporaryFolder(), "audit.log");
const account = "devstoreaccount1";
const create = 5;
const lock = 10;
const exclusive = 0x12;
const open = 1;
const renameClass = 10;

interface Line {
  readonly service: string;
  readonly operation: string;
  readonly resource: string;
  readonly status: string;
  readonly who: Readonly<Record<string, unknown>>;
  readonly client: string;
  readonly [name: string]: unknown;
}

it("records SMB logins, connects, opens, closes with what was done, and changes", async () => {
  const server = await start({ ...freePorts, inMemoryPersistence: true, auditLog });
  const service = ShareServiceClient.fromConnectionString(server.connectionString);
  await service.getShareClient("docs").create();
  const stranger = await WireClient.open(server.smbUrl);
  await stranger.negotiate();
  await stranger.logIn("intruder");
  stranger.end();
  const client = await WireClient.ready(server.smbUrl, "docs");
  await client.connectTo("nowhere");
  const other = await WireClient.ready(server.smbUrl, "docs");
  const handle = await openFile(client, "a.txt");
  for (const at of [0, 5, 10]) await write(client, handle, "hello", at);
  for (const _ of [1, 2]) await read(client, handle, 15);
  await client.ask(lock, lockBody(handle, { at: 0, length: 5, flags: exclusive }));
  const reader = await openFile(other, "a.txt", { access: Access.read });
  await read(other, reader, 5);
  await client.ask(create, createBody("missing.txt", { access: Access.read, disposition: open }));
  await close(other, reader);
  await setInfo(client, handle, renameClass, renameInfo("b.txt"));
  await close(client, handle);
  const kept = await openFile(other, "b.txt");
  await write(other, kept, "xyz");
  // Its handle closes with the connection.
  other.end();
  client.end();
  await server.stop();

  const lines = readFileSync(auditLog, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line)
    .filter(({ service: name }) => name === "smb");
  const known = { kind: "smb", user: account, session: expect.any(String) as unknown };
  const shown = lines.map(({ operation, resource, status }) => [operation, resource, status]);
  const ok = "STATUS_SUCCESS";
  const file = `/${account}/docs/a.txt`;
  expect(shown).toEqual([
    ["SESSION_SETUP", "/", "STATUS_LOGON_FAILURE"],
    ["SESSION_SETUP", `/${account}`, ok],
    ["TREE_CONNECT", `/${account}/docs`, ok],
    ["TREE_CONNECT", `/${account}/nowhere`, "STATUS_BAD_NETWORK_NAME"],
    ["SESSION_SETUP", `/${account}`, ok],
    ["TREE_CONNECT", `/${account}/docs`, ok],
    ["CREATE", file, ok],
    ["CREATE", file, ok],
    ["CREATE", `/${account}/docs/missing.txt`, "STATUS_OBJECT_NAME_NOT_FOUND"],
    ["CLOSE", file, ok],
    ["SET_INFO", file, ok],
    ["CLOSE", file, ok],
    ["CREATE", `/${account}/docs/b.txt`, ok],
    ["CLOSE", `/${account}/docs/b.txt`, ok],
  ]);
  const [failed, login, , , , , opened, reopened, , closedByOther, renamed, closed, , last] = lines;
  expect(failed?.who).toEqual({ kind: "unauthenticated", user: "intruder" });
  expect(login?.who).toEqual(known);
  expect(opened).toMatchObject({ access: expect.arrayContaining(["read", "write"]) as unknown });
  expect([opened?.["action"], reopened?.["action"]]).toEqual(["created", "opened"]);
  expect(reopened?.["access"]).toEqual(["read"]);
  expect(closedByOther).toMatchObject({
    readBytes: 0,
    rejected: { "READ STATUS_FILE_LOCK_CONFLICT": 1 },
  });
  expect(renamed).toMatchObject({ change: "rename", to: "/b.txt" });
  expect(closed).toMatchObject({ who: known, readBytes: 30, writtenBytes: 15, locks: 1 });
  expect(last).toMatchObject({ readBytes: 0, writtenBytes: 3 });
  expect(lines.every(({ client: peer }) => /^(::ffff:)?127\.0\.0\.1:\d+$/.test(peer))).toBe(true);
});
