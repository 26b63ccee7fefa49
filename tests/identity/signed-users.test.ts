import { beforeEach, describe, expect, it } from "vitest";
import type { AuthRequest } from "../../src/http/auth/request.ts";
import { keyPrincipal } from "../../src/protocol/principal.ts";
import type { DelegationSasPrincipal, SasAgent } from "../../src/protocol/principal.ts";
import { ok } from "../../src/protocol/result.ts";
import { simBlob } from "../harness/sim-blob.ts";
import { openListedTree, type ListedTree } from "./listed-tree.ts";

const mismatch = [403, "AuthorizationPermissionMismatch"];
let sim: ListedTree["sim"];
let assign: ListedTree["assign"];
let send: ListedTree["send"];

/** A signature of "me" for the filesystem "fff", perhaps for another user. */
function signedFor(agent?: SasAgent): DelegationSasPrincipal {
  return {
    kind: "delegation-sas",
    version: "2023-11-03",
    resource: {
      service: "blob",
      kind: "container",
      name: "fff",
      path: undefined,
      snapshotOrVersion: "",
    },
    permissions: "racwdlmeop",
    encryptionScope: undefined,
    overrides: undefined,
    objectId: "me",
    tenantId: "t",
    agent,
  };
}

const user: SasAgent = { objectId: "user", isAuthorised: false };

beforeEach(async () => {
  ({ sim, assign, send } = await openListedTree());
});

const listed = "/fff?resource=filesystem&recursive=false&directory=";

describe("a signature of a delegation key for a user (suoid)", () => {
  it("needs the access control lists of the user besides the role of the signer", async () => {
    assign({ principal: "me", role: "Storage Blob Data Owner" });
    sim.callAs(signedFor());
    expect(await send("GET", "/fff/shut/file")).toEqual([200]);
    sim.callAs(signedFor(user));
    expect(await send("GET", "/fff/shut/file")).toEqual(mismatch);
    expect(await send("PUT", "/fff/shut/new?resource=file")).toEqual(mismatch);
    expect(await send("DELETE", "/fff/open/file")).toEqual([200]);
    expect(await send("PUT", "/fff/open/file?resource=file")).toEqual([201]);
    expect(await send("GET", `${listed}shut`)).toEqual(mismatch);
    expect(await send("GET", `${listed}open`)).toEqual([200]);
    const change = { "x-ms-permissions": "0777" };
    expect(await send("PATCH", "/fff/shut?action=setAccessControl", change)).toEqual(mismatch);
    const check = "?action=checkAccess&fsAction=r--";
    expect(await send("HEAD", `/fff/shut/file${check}`)).toEqual(mismatch);
  });

  it("needs the lists also if no roles are configured", async () => {
    sim.callAs(signedFor());
    expect(await send("GET", "/fff/shut/file")).toEqual([200]);
    sim.callAs(signedFor(user));
    expect(await send("GET", "/fff/shut/file")).toEqual(mismatch);
    expect(await send("GET", "/fff/open/file")).toEqual([200]);
  });

  it("needs the role of the signer even if the lists permit everything to the user", async () => {
    assign();
    sim.callAs(keyPrincipal);
    const acl = { "x-ms-acl": "user::rwx,user:user:rwx,group::---,mask::rwx,other::---" };
    expect(await send("PATCH", "/fff/open?action=setAccessControl", acl)).toEqual([200]);
    sim.callAs(signedFor(user));
    expect(await send("GET", "/fff/open/file")).toEqual(mismatch);
    expect(await send("GET", `${listed}open`)).toEqual(mismatch);
  });

  it("is not limited by lists if the signer has authorised the user (saoid)", async () => {
    assign({ principal: "me", role: "Storage Blob Data Reader" });
    sim.callAs(signedFor({ objectId: "user", isAuthorised: true }));
    expect(await send("GET", "/fff/shut/file")).toEqual([200]);
    expect(await send("GET", `${listed}shut`)).toEqual([200]);
  });

  it.each([true, false])("is rejected on a flat account (authorised: %s)", async (isAuthorised) => {
    sim = await simBlob();
    await sim.send({ method: "PUT", path: "/fff?restype=container" });
    const headers = { "x-ms-blob-type": "BlockBlob" };
    await sim.send({ method: "PUT", path: "/fff/blob", headers });
    sim.callAs(signedFor({ objectId: "user", isAuthorised }));
    const { status, code } = await sim.send({ method: "GET", path: "/fff/blob" });
    expect([status, code]).toEqual([403, "AuthorizationFailure"]);
  });
});

describe("the source of a copy, signed with a delegation key", () => {
  /** Status of a copy by the holder of the account key, from a source with its own signature. */
  async function copyFrom(path: string, source: DelegationSasPrincipal): Promise<number> {
    Object.assign(sim.http.authenticator, {
      authenticate: ({ query }: AuthRequest) => ok(query.has("sig") ? source : keyPrincipal),
    });
    const from = `http://127.0.0.1/devstoreaccount1/fff/${path}?sig=x`;
    const headers = { "x-ms-copy-source": from };
    return (await sim.send({ method: "PUT", path: "/fff/copy", headers })).status;
  }

  it("is readable only while the signer has a role, or the lists permit it", async () => {
    assign({ principal: "me", role: "Storage Blob Data Reader" });
    expect(await copyFrom("shut/file", signedFor())).toBe(202);
    assign();
    expect(await copyFrom("shut/file", signedFor())).toBe(403);
    expect(await copyFrom("open/file", signedFor())).toBe(202);
  });

  it("is limited by the lists of the user that it names", async () => {
    assign({ principal: "me", role: "Storage Blob Data Reader" });
    expect(await copyFrom("shut/file", signedFor(user))).toBe(403);
    expect(await copyFrom("open/file", signedFor(user))).toBe(202);
  });
});
