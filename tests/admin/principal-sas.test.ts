import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { ShareServiceClient } from "@azure/storage-file-share";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminServer, type AdminServer } from "./admin-server.ts";

const account = "devstoreaccount1";
const secret = "a-secret-of-the-signer";
const assigned = (principal: string, ...roles: readonly string[]) =>
  roles.map((role) => ({ principal, role, account }));
const identity = {
  principals: { signer: { objectId: "o1", secret }, reader: { objectId: "o2", secret } },
  roleAssignments: [
    ...assigned("signer", "Storage Blob Data Reader"),
    ...assigned("signer", "Storage Queue Data Reader", "Storage Queue Delegator"),
    ...assigned("signer", "Storage File Data Privileged Reader", "Storage File Delegator"),
    { principal: "reader", role: "Storage Blob Data Reader", account, container: "box" },
  ],
};

let admin: AdminServer;
let cookies: Readonly<Record<string, { readonly Cookie: string }>>;

async function cookieOf(principal: string) {
  const answer = await admin.post("/admin/v1/session", { principal, secret });
  return { Cookie: answer.headers.get("set-cookie")?.split(";", 1)[0] ?? "" };
}

beforeAll(async () => {
  admin = await adminServer({ identity, adminToken: "a token that is long enough" });
  const { connectionString } = admin.server;
  const box = BlobServiceClient.fromConnectionString(connectionString).getContainerClient("box");
  await box.create();
  await box.getBlockBlobClient("a b.txt").upload("content", 7);
  const queue = QueueServiceClient.fromConnectionString(connectionString).getQueueClient("queue");
  await queue.create();
  await queue.sendMessage("a message");
  const share = ShareServiceClient.fromConnectionString(connectionString).getShareClient("share");
  await share.create();
  const file = share.rootDirectoryClient.getFileClient("file.txt");
  await file.create(4);
  await file.uploadRange("file", 0, 4);
  cookies = { signer: await cookieOf("signer"), reader: await cookieOf("reader") };
});
afterAll(() => admin[Symbol.asyncDispose]());

async function sign(body: object, principal = "signer") {
  const answer = await admin.post("/admin/v1/sas", { account, ...body }, cookies[principal]);
  const { error, ...made } = (await answer.json()) as Made;
  return { status: answer.status, code: error?.code, message: error?.message, ...made };
}

interface Made {
  readonly url?: string;
  readonly query?: string;
  readonly error?: { readonly code: string; readonly message: string };
}

const list = "restype=container&comp=list";
const oneBlob = { kind: "service", service: "blob", container: "box", path: "a b.txt" };

describe("a SAS that a principal creates", () => {
  it.each([
    ["a blob", oneBlob, "", "content"],
    ["a container", { ...oneBlob, path: null, permissions: "l" }, list, "a b.txt"],
    ["a file", { ...oneBlob, service: "file", container: "share", path: "file.txt" }, "", "file"],
  ])("is valid for %s", async (_title, body, more, content) => {
    const { status, url = "" } = await sign({ permissions: "r", ...body });
    expect(status).toBe(200);
    expect(url).toContain("skoid=o1");
    const answer = await fetch(`${url}&${more}`);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining(content)]);
  });

  it("is valid for a queue", async () => {
    const body = { kind: "service", service: "queue", container: "queue", permissions: "r" };
    const { url = "" } = await sign(body);
    const answer = await fetch(url.replace("/queue?", "/queue/messages?peekonly=true&"));
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringMatching("a message")]);
  });

  it("permits no more than the roles of the principal", async () => {
    const { url = "" } = await sign({ ...oneBlob, permissions: "rd" });
    expect((await fetch(url, { method: "DELETE" })).status).toBe(403);
    expect((await fetch(url)).status).toBe(200);
  });

  it("needs a role for the account that permits a user delegation key", async () => {
    const { status, code } = await sign({ ...oneBlob, permissions: "r" }, "reader");
    expect([status, code]).toEqual([403, "AuthorizationPermissionMismatch"]);
  });

  it.each([
    ["of an account", { kind: "account" }, 403, "AccountKeyRequired"],
    ["longer than 7 days", { minutes: 7 * 1440 + 1 }, 400, "InvalidInput"],
    ["with a stored policy", { identifier: "policy" }, 400, "InvalidInput"],
    ["for a table", { service: "table", path: null, container: "t" }, 400, "InvalidInput"],
    ["for an unknown account", { account: "unknown" }, 404, "AccountNotFound"],
  ])("is not created: %s", async (_title, body, status, code) => {
    const answer = await sign({ ...oneBlob, permissions: "r", ...body });
    expect([answer.status, answer.code]).toEqual([status, code]);
    expect(answer.query).toBeUndefined();
  });
});
