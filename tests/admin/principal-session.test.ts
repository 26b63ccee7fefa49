import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AnyRoute, Route } from "../../src/admin/routes.ts";
import type { WireClient } from "../smb-wire/wire-client.ts";
import { adminHeaders, adminServer, type AdminServer, type Json } from "./admin-server.ts";
import { declaredRoutes } from "./admin-routes.ts";
import { EventStream } from "./event-stream.ts";
import { fillForeign, foreign } from "./foreign-account.ts";

const adminToken = "a token that is long enough";
const token = { Authorization: `Bearer ${adminToken}` };
const secret = "a-secret-of-the-reader";
const { account } = foreign;
const objectId = "aaaaaaaa-0000-4000-8000-000000000001";
const identity = {
  principals: {
    reader: { objectId, secret },
    stranger: { objectId: "aaaaaaaa-0000-4000-8000-000000000002", secret },
  },
  roleAssignments: [
    { principal: "reader", role: "Storage Blob Data Reader", account, container: "open-box" },
    { principal: "reader", role: "Storage Queue Data Reader", account, queue: "open-queue" },
    { principal: "stranger", role: "Storage Blob Data Owner", account: "another" },
  ],
};

let admin: AdminServer;
let smb: WireClient;
let reader: { readonly Cookie: string };

async function logIn(body: object): Promise<Response> {
  return admin.post("/admin/v1/session", body);
}

function cookieOf(answer: Response): { readonly Cookie: string } {
  return { Cookie: answer.headers.get("set-cookie")?.split(";", 1)[0] ?? "" };
}

beforeAll(async () => {
  const keys = [Buffer.alloc(64, 2).toString("base64")];
  const accounts = { [account]: {}, another: { keys } };
  admin = await adminServer({ accounts, adminToken, identity });
  const { connectionString } = admin.server;
  smb = await fillForeign(connectionString, admin.server.smbUrl);
  const container =
    BlobServiceClient.fromConnectionString(connectionString).getContainerClient("open-box");
  await container.create();
  await container.getBlockBlobClient("open.txt").upload("open", 4);
  await container.getBlobClient("open.txt").getBlobLeaseClient().acquireLease(-1);
  const queue =
    QueueServiceClient.fromConnectionString(connectionString).getQueueClient("open-queue");
  await queue.create();
  await queue.sendMessage("open message");
  await queue.receiveMessages({ visibilityTimeout: 3600 });
  const answer = await logIn({ principal: "reader", secret });
  expect(answer.status).toBe(200);
  reader = cookieOf(answer);
});
afterAll(async () => {
  smb.end();
  await admin[Symbol.asyncDispose]();
});

async function seen(path: string): Promise<string> {
  return (await admin.get(path, reader)).text();
}

const isAnswered = (route: AnyRoute): route is Route => "answer" in route;
const closed = declaredRoutes()
  .filter(isAnswered)
  .filter(({ access }) => access !== "open");
const named = ({ method, path }: Route): string => `${method} ${path}`;
/** A request of each route that names what the principal may not see. */
const query: Readonly<Record<string, string>> = {
  "/admin/v1/timeline": `?service=blob&account=${account}&container=${foreign.container}`,
  "/admin/v1/states": `?service=blob&account=${account}&container=${foreign.container}&path=x`,
  "/admin/v1/messages": `?account=${account}&queue=${foreign.queue}`,
  "/admin/v1/stored": `?account=${account}`,
  "/admin/v1/policies": `?service=blob&account=${account}&container=${foreign.container}`,
};
const ofOneResource: ReadonlySet<string> = new Set(["/admin/v1/timeline", "/admin/v1/policies"]);
const bodies: Readonly<Record<string, object>> = {
  "/admin/v1/policies": {
    service: "blob",
    account,
    container: foreign.container,
    policies: [{ id: "all", permission: "r" }],
  },
  "/admin/v1/sas": {
    kind: "service",
    service: "blob",
    account,
    container: foreign.container,
    permissions: "r",
  },
  "/admin/v1/leases/break": {
    kind: "blob",
    account,
    container: foreign.container,
    path: foreign.path,
  },
};

describe("a session of a principal", () => {
  it.each(closed.map((route) => [named(route), route] as const))(
    "%s shows only what its roles allow",
    async (_, { method, path, access }) => {
      const asked = method === "GET" ? (query[path] ?? "") : "";
      const target = path.replace(/:\w+/, account) + asked;
      const answer = await fetch(admin.url + target, {
        method,
        headers: { ...adminHeaders, "Content-Type": "application/json", ...reader },
        ...(method === "GET" ? {} : { body: JSON.stringify(bodies[path] ?? {}) }),
      });
      const text = await answer.text();
      const refusals: Readonly<Record<string, string>> = {
        account: "AccountKeyRequired",
        server: "AdminTokenRequired",
        metrics: "AdminTokenRequired",
      };
      const refusal = refusals[access];
      if (refusal === undefined) {
        // A name that the request contains may be repeated by the message of a rejection.
        // Changes, and views of one resource, are rejected; others leave it out.
        const isList = method === "GET" && !ofOneResource.has(path);
        if (isList && answer.status < 300) expect(text).not.toContain("foreign");
        else expect(answer.status, text).toBe(403);
      } else {
        expect([answer.status, text]).toEqual([403, expect.stringContaining(refusal)]);
      }
      expect(text).not.toContain("another");
    },
  );

  it("shows what its roles allow, and their permissions", async () => {
    expect(await seen("/admin/v1/session")).toContain(`"principal":{"name":"reader"`);
    expect(await seen("/admin/v1/leases")).toContain("open-box");
    expect(await seen("/admin/v1/messages")).toContain("open message");
    const timeline = `service=blob&account=${account}&container=open-box&path=open.txt`;
    expect(await seen(`/admin/v1/timeline?${timeline}`)).toContain(`"what":"current"`);
    const { accounts } = JSON.parse(await seen("/admin/v1/accounts")) as {
      accounts: readonly { name: string; permissions: Json }[];
    };
    expect(accounts.map(({ name }) => name)).toEqual([account]);
    const denied = { list: false, manage: false, sign: false };
    const none = { ...denied, read: false, write: false, delete: false };
    expect(accounts[0]?.permissions).toMatchObject({
      services: { blob: none, queue: none, table: none, file: none },
      scopes: [
        { ...none, service: "blob", name: "open-box", read: true },
        { ...none, service: "queue", name: "open-queue", read: true },
      ],
    });
    const { principals } = JSON.parse(await seen("/admin/v1/identity")) as {
      principals: readonly Json[];
    };
    expect(principals).toEqual([
      {
        name: "reader",
        objectId,
        clientId: objectId,
        groups: [],
        hasSecret: true,
        source: "configured",
      },
    ]);
  });

  it("acts through the gateway with its own roles only", async () => {
    const path = `/storage/blob/${account}/open-box/open.txt`;
    expect(await seen(path)).toBe("open");
    const hidden = `/storage/blob/${account}/${foreign.container}/x`;
    expect((await admin.get(hidden, reader)).status).toBe(403);
    const write = await fetch(admin.url + path, {
      method: "PUT",
      headers: { ...adminHeaders, ...reader, "x-ms-blob-type": "BlockBlob" },
      body: "changed",
    });
    expect(write.status).toBe(403);
    // The admin token is none of the services.
    expect((await admin.get(path, token)).status).toBe(404);
  });

  it("receives the events of what it may see; a rejection names the missing role", async () => {
    const own = await EventStream.open(admin.url, "refused,change", reader);
    const all = await EventStream.open(admin.url, "refused", token);
    for (const container of [foreign.container, "open-box"]) {
      await fetch(`${admin.url}/storage/blob/${account}/${container}/new.txt`, {
        method: "PUT",
        headers: { ...adminHeaders, ...reader, "x-ms-blob-type": "BlockBlob" },
        body: "x",
      });
    }
    const blobs = "Microsoft.Storage/storageAccounts/blobServices/containers/blobs";
    const expected = {
      status: 403,
      code: "AuthorizationPermissionMismatch",
      rule: "role",
      operation: "Put Blob",
      account,
      container: "open-box",
      path: "new.txt",
      caller: { kind: "bearer", objectId, name: "reader" },
      missing: {
        actions: [[`${blobs}/write`], [`${blobs}/add/action`]],
        roles: ["Storage Blob Data Owner", "Storage Blob Data Contributor"],
      },
    };
    expect(await own.next("refused")).toMatchObject(expected);
    expect(await all.next("refused")).toMatchObject({ container: foreign.container, rule: "role" });
    await Promise.all([own.close(), all.close()]);
  });
});

describe("a login as a principal", () => {
  it("needs its secret, or a caller that administers the server", async () => {
    const wrong = [
      { principal: "reader", secret: `${secret}.` },
      { principal: "reader" },
      { principal: "unknown", secret },
      { bearer: "not.a.token" },
    ];
    for (const body of wrong) {
      const { status } = await logIn(body);
      expect([body, status]).toEqual([body, 401]);
    }
    const session = await admin.json("/admin/v1/session");
    expect(session["methods"]).toEqual(["key", "token", "principal", "bearer"]);
    const answer = await admin.post("/admin/v1/session", { principal: "stranger" }, token);
    expect(await answer.json()).toMatchObject({ principal: { name: "stranger" } });
    const accounts = await (await admin.get("/admin/v1/accounts", cookieOf(answer))).text();
    expect(accounts).toContain(`"another"`);
    expect(accounts).not.toContain(account);
  });

  it("accepts a token of the local token service, and ends with it", async () => {
    const discovery = await fetch(`${admin.url}/common/discovery/instance`);
    const { tenant_discovery_endpoint: document } = (await discovery.json()) as Json;
    const tenant = new URL(String(document)).pathname.split("/")[1] ?? "";
    const issued = await fetch(`${admin.url}/${tenant}/oauth2/v2.0/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: objectId,
        client_secret: secret,
        scope: "https://storage.azure.com/.default",
      }),
    });
    const { access_token: bearer } = (await issued.json()) as Json;
    const answer = await logIn({ bearer });
    expect(await answer.json()).toMatchObject({ principal: { name: "reader", objectId } });
    const cookie = cookieOf(answer);
    const blob = `/storage/blob/${account}/open-box/open.txt`;
    expect(await (await admin.get(blob, cookie)).text()).toBe("open");
    for (const minute of [20, 20, 25]) {
      expect((await admin.get("/admin/v1/accounts", cookie)).status).toBe(200);
      admin.clock.skip(minute * 60);
    }
    expect((await admin.get("/admin/v1/accounts", cookie)).status).toBe(401);
  });
});
