import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { afterAll, beforeAll, expect, it } from "vitest";
import { adminServer, type AdminServer, type Json } from "./admin-server.ts";

const account = "devstoreaccount1";
let admin: AdminServer;

beforeAll(async () => {
  admin = await adminServer();
  const text = admin.server.connectionString;
  await BlobServiceClient.fromConnectionString(text).createContainer("things");
  await QueueServiceClient.fromConnectionString(text).createQueue("things");
  const allowInsecureConnection = true;
  await TableClient.fromConnectionString(text, "things", { allowInsecureConnection }).createTable();
  await ShareServiceClient.fromConnectionString(text).createShare("things");
});
afterAll(() => admin[Symbol.asyncDispose]());

const path = "/admin/v1/policies";
const read = (service: string): Promise<Json> =>
  admin.json(`${path}?service=${service}&account=${account}&container=things`);
const change = (service: string, body: object): Promise<Response> =>
  admin.post(path, { service, account, container: "things", ...body });
const expiry = "2099-01-01T00:00:00.0000000Z";

it.each(["blob", "queue", "table", "file"])(
  "stored access policies of the %s service are written and read",
  async (service) => {
    expect((await read(service))["policies"]).toEqual([]);
    const policies = [{ id: "readers", permission: "r", expiry }, { id: "empty" }];
    expect((await change(service, { policies })).status).toBe(200);
    expect((await read(service))["policies"]).toEqual(policies);
    expect((await change(service, { policies: [] })).status).toBe(200);
    expect((await read(service))["policies"]).toEqual([]);
  },
);

it("the access level of a container is changed only if the container is still the one read", async () => {
  expect(await read("blob")).toMatchObject({ publicAccess: "none" });
  const unmodifiedSince = "Sat, 01 Jan 2000 00:00:00 GMT";
  const stale = await change("blob", { publicAccess: "blob", policies: [], unmodifiedSince });
  expect(stale.status).toBe(412);
  const { lastModified } = await read("blob");
  const fresh = { publicAccess: "blob", policies: [], unmodifiedSince: lastModified };
  expect((await change("blob", fresh)).status).toBe(200);
  expect(await read("blob")).toMatchObject({ publicAccess: "blob" });
});

it("a SAS with a stored access policy has its permissions", async () => {
  const policies = [{ id: "lister", permission: "l", expiry }];
  await change("blob", { policies });
  const sas = { kind: "service", account, service: "blob", container: "things" };
  const signed = await admin.post("/admin/v1/sas", { ...sas, identifier: "lister" });
  const { url } = (await signed.json()) as { readonly url: string };
  expect((await fetch(`${url}&restype=container&comp=list`)).status).toBe(200);
  await change("blob", { policies: [] });
  expect((await fetch(`${url}&restype=container&comp=list`)).status).toBe(403);
});

it.each([
  [{}, 400, "policies must be a list of at most 5 policies"],
  [{ policies: [{ id: "" }] }, 400, "id is missing"],
  [{ policies: [{ id: "a", start: "soon" }] }, 400, "start must be a time"],
  [{ policies: [{ id: "a", colour: "red" }] }, 400, "is unknown"],
  [{ policies: [{ id: "a".repeat(65) }] }, 400, "at most 64 characters"],
  [{ policies: Array.from({ length: 6 }, (_, at) => ({ id: `${at}` })) }, 400, "at most 5"],
  [{ policies: [], publicAccess: "everyone" }, 400, "publicAccess must be"],
  [{ policies: [], service: "queue", publicAccess: "blob" }, 400, "is for containers"],
  [{ policies: [], container: "missing" }, 404, "does not exist"],
  [{ policies: [], account: "unknown" }, 404, "no account"],
])("%j is answered %i", async (body, status, message) => {
  const answer = await change("blob", body);
  expect([answer.status, await answer.text()]).toEqual([status, expect.stringContaining(message)]);
});
