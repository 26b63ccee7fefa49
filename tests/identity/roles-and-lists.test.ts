import { beforeEach, describe, expect, it } from "vitest";
import type { Principal } from "../../src/protocol/principal.ts";
import { openListedTree, type ListedTree } from "./listed-tree.ts";

const me: Principal = { kind: "bearer", objectId: "me", tenantId: "t" };
const mismatch = [403, "AuthorizationPermissionMismatch"];
let sim: ListedTree["sim"];
let assign: ListedTree["assign"];
let send: ListedTree["send"];

beforeEach(async () => {
  ({ sim, assign, send } = await openListedTree());
  sim.callAs(me);
});

describe("on an account with a hierarchical namespace", () => {
  it("a role makes access control lists irrelevant", async () => {
    assign({ principal: "me", role: "Storage Blob Data Reader" });
    expect(await send("GET", "/fff/shut/file")).toEqual([200]);
    expect(await send("GET", "/fff?resource=filesystem&directory=shut&recursive=false")).toEqual([
      200,
    ]);
  });

  it("without a role the lists decide about paths", async () => {
    assign();
    expect(await send("GET", "/fff/open/file")).toEqual([200]);
    expect(await send("GET", "/fff/shut/file")).toEqual(mismatch);
    expect(await send("PUT", "/fff/open/mine?resource=file")).toEqual([201]);
    expect(await send("DELETE", "/fff/shut/file")).toEqual(mismatch);
    const listed = "/fff?resource=filesystem&recursive=false&directory=";
    expect(await send("GET", `${listed}open`)).toEqual([200]);
    expect(await send("GET", `${listed}shut`)).toEqual(mismatch);
  });

  it("without a role the lists do not decide about filesystems", async () => {
    assign();
    expect(await send("PUT", "/ggg?resource=filesystem")).toEqual(mismatch);
    expect(await send("HEAD", "/fff?resource=filesystem")).toEqual(mismatch);
    expect(await send("DELETE", "/fff?resource=filesystem")).toEqual(mismatch);
  });

  it("a contributor changes no list of another owner, an owner role every list", async () => {
    const change = { "x-ms-permissions": "0777" };
    assign({ principal: "me", role: "Storage Blob Data Contributor" });
    expect(await send("PATCH", "/fff/shut?action=setAccessControl", change)).toEqual(mismatch);
    assign({ principal: "me", role: "Storage Blob Data Owner" });
    expect(await send("PATCH", "/fff/shut?action=setAccessControl", change)).toEqual([200]);
    const all = "/fff/shut?action=setAccessControlRecursive&mode=modify";
    const acl = { "x-ms-acl": "user:me:rwx" };
    const { body } = await sim.sendToDfs({ method: "PATCH", path: all, headers: acl });
    expect(JSON.parse(body)).toMatchObject({ failureCount: 0, filesSuccessful: 1 });
  });

  it("a missing path is reported to callers that may search the directory above it", async () => {
    assign();
    expect(await send("GET", "/fff/open/missing")).toEqual([404, "PathNotFound"]);
    expect(await send("GET", "/fff/missing")).toEqual([404, "PathNotFound"]);
    expect(await send("DELETE", "/fff/missing")).toEqual([404, "PathNotFound"]);
    const flush = "/fff/missing?action=flush&position=0";
    expect(await send("PATCH", flush)).toEqual([404, "PathNotFound"]);
    expect(await send("GET", "/fff/shut/missing")).toEqual(mismatch);
    expect(await send("PUT", "/fff/missing?resource=file")).toEqual(mismatch);
  });

  it("Check Access answers for the roles of the caller, or else for the list", async () => {
    const check = (path: string, action: string) =>
      send("HEAD", `/fff/${path}?action=checkAccess&fsAction=${action}`);
    assign({ principal: "me", role: "Storage Blob Data Reader" });
    expect(await check("shut/file", "r--")).toEqual([200]);
    expect(await check("shut/file", "r-x")).toEqual([200]);
    expect(await check("shut/file", "rw-")).toEqual([403, "AuthorizationPermissionMismatch"]);
    expect(await check("open", "rwx")).toEqual([200]);
    assign({ principal: "me", role: "Storage Blob Data Contributor" });
    expect(await check("shut/file", "rwx")).toEqual([200]);
    assign();
    expect(await check("open/file", "r--")).toEqual([200]);
    expect(await check("open/file", "-w-")).toEqual(mismatch);
    expect(await check("shut/file", "r--")).toEqual(mismatch);
    expect(await check("open/missing", "r--")).toEqual([404, "PathNotFound"]);
    expect(await check("shut/missing", "r--")).toEqual(mismatch);
  });
});
