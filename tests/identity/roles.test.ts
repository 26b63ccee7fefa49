import { beforeEach, describe, expect, it } from "vitest";
import { accountsOf, developmentAccount } from "../../src/account/settings.ts";
import type { RoleAssignmentInput } from "../../src/account/parse-identity.ts";
import { keyPrincipal, type Principal } from "../../src/protocol/principal.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";
import { rulesFrom } from "./rules.ts";

const me: Principal = { kind: "bearer", objectId: "me", tenantId: "t" };
const mismatch = [403, "AuthorizationPermissionMismatch"];
let sim: SimBlob;

/** Replaces the settings, as a reload does. */
function assign(...roleAssignments: readonly RoleAssignmentInput[]): void {
  const roles = { Uploader: { dataActions: ["*/blobs/add/action"] } };
  const settings = { ...developmentAccount(), roles: rulesFrom({ roleAssignments, roles }) };
  const current = accountsOf([settings]);
  Object.assign(sim.http.accounts, current);
}

async function send(method: string, path: string, headers: Record<string, string> = {}) {
  const { status, code } = await sim.send({ method, path, headers });
  return code === undefined ? [status] : [status, code];
}

const putBlob = (path: string, headers: Record<string, string> = {}) =>
  send("PUT", path, { "x-ms-blob-type": "BlockBlob", ...headers });

beforeEach(async () => {
  sim = await simBlob();
  await send("PUT", "/one?restype=container");
  await send("PUT", "/two?restype=container");
  await putBlob("/one/blob");
  await putBlob("/two/blob");
  sim.callAs(me);
});

describe("a caller with a token", () => {
  it("may do everything without configured roles", async () => {
    expect(await putBlob("/one/new")).toEqual([201]);
    expect(await send("GET", "/one?restype=container&comp=acl")).toEqual([200]);
  });

  it("may do nothing without an assignment", async () => {
    assign();
    expect(await send("GET", "/one/blob")).toEqual(mismatch);
    expect(await putBlob("/one/new")).toEqual(mismatch);
    expect(await send("GET", "/?comp=list")).toEqual(mismatch);
  });

  it("reads but does not write as a reader", async () => {
    assign({ principal: "me", role: "Storage Blob Data Reader" });
    expect(await send("GET", "/one/blob")).toEqual([200]);
    expect(await send("GET", "/one?restype=container&comp=list")).toEqual([200]);
    expect(await send("GET", "/?comp=list")).toEqual([200]);
    expect(await putBlob("/one/new")).toEqual(mismatch);
    expect(await send("DELETE", "/one/blob")).toEqual(mismatch);
    expect(await send("PUT", "/one/blob?comp=metadata", { "x-ms-meta-a": "b" })).toEqual(mismatch);
    expect(await send("GET", "/one?restype=container&comp=acl")).toEqual(mismatch);
    expect(await send("DELETE", "/one?restype=container")).toEqual(mismatch);
  });

  it("has a role only in the container that it is assigned for", async () => {
    assign({ principal: "me", role: "Storage Blob Data Contributor", container: "one" });
    expect(await putBlob("/one/new")).toEqual([201]);
    expect(await send("GET", "/one?restype=container")).toEqual([200]);
    expect(await putBlob("/two/new")).toEqual(mismatch);
    expect(await send("GET", "/two/blob")).toEqual(mismatch);
    expect(await send("GET", "/?comp=list")).toEqual(mismatch);
  });

  it("has the roles of its groups, and several roles add up", async () => {
    sim.callAs({ kind: "bearer", objectId: "me", tenantId: "t", groups: ["g1", "g2"] });
    assign(
      { principal: "G2", role: "Storage Blob Data Reader" },
      { principal: "me", role: "Uploader", container: "two" },
    );
    expect(await send("GET", "/one/blob")).toEqual([200]);
    expect(await putBlob("/two/new")).toEqual([201]);
    expect(await putBlob("/one/new")).toEqual(mismatch);
  });

  it("with the right to add alone creates blobs and replaces none", async () => {
    assign({ principal: "me", role: "Uploader" });
    expect(await putBlob("/one/new")).toEqual([201]);
    expect(await putBlob("/one/new")).toEqual(mismatch);
    expect(await send("GET", "/one/new")).toEqual(mismatch);
  });

  it("needs the right to tags for tags", async () => {
    assign({ principal: "me", role: "Storage Blob Data Contributor" });
    expect(await putBlob("/one/new", { "x-ms-tags": "a=b" })).toEqual(mismatch);
    expect(await send("GET", "/one/blob", { "x-ms-if-tags": "a='b'" })).toEqual(mismatch);
    assign({ principal: "me", role: "Storage Blob Data Owner" });
    expect(await putBlob("/one/new", { "x-ms-tags": "a=b" })).toEqual([201]);
  });

  it("needs a role for the source of a copy", async () => {
    const source = { "x-ms-copy-source": "http://127.0.0.1/devstoreaccount1/two/blob" };
    assign({ principal: "me", role: "Storage Blob Data Contributor", container: "one" });
    const [refused] = await send("PUT", "/one/copy", source);
    expect(refused).toBe(403);
    assign({ principal: "me", role: "Storage Blob Data Contributor" });
    expect(await send("PUT", "/one/copy", source)).toEqual([202]);
  });
});

it("a removed role does not count for a body that is still arriving", async () => {
  assign({ principal: "me", role: "Storage Blob Data Contributor" });
  const { content } = sim.runtime;
  const receive = content.receive.bind(content);
  content.receive = async (...given: Parameters<typeof receive>) => {
    const received = await receive(...given);
    assign({ principal: "me", role: "Storage Blob Data Reader" });
    return received;
  };
  const headers = { "x-ms-blob-type": "BlockBlob" };
  const put = await sim.send({ method: "PUT", path: "/one/late", headers, body: "late" });
  expect([put.status, put.code]).toEqual(mismatch);
  sim.callAs(keyPrincipal);
  expect(await send("GET", "/one/late")).toEqual([404, "BlobNotFound"]);
});

describe("a signature of a delegation key", () => {
  const signed: Principal = {
    kind: "delegation-sas",
    version: "2023-11-03",
    resource: {
      service: "blob",
      kind: "container",
      name: "one",
      path: undefined,
      snapshotOrVersion: "",
    },
    permissions: "rw",
    encryptionScope: undefined,
    overrides: undefined,
    objectId: "me",
    tenantId: "t",
  };

  it("permits no more than the roles of its signer at the time of use", async () => {
    sim.callAs(signed);
    expect(await send("GET", "/one/blob")).toEqual([200]);
    assign({ principal: "me", role: "Storage Blob Data Reader" });
    expect(await send("GET", "/one/blob")).toEqual([200]);
    expect(await putBlob("/one/blob")).toEqual(mismatch);
    assign();
    expect(await send("GET", "/one/blob")).toEqual(mismatch);
    assign({ principal: "me", role: "Storage Blob Data Owner" });
    expect(await putBlob("/one/blob")).toEqual([201]);
    expect(await send("DELETE", "/one/blob")).toEqual(mismatch);
  });
});
