import { beforeEach, describe, expect, it } from "vitest";

import { isPathRequest } from "../../src/blob/service.ts";
import { anonymousPrincipal } from "../../src/protocol/principal.ts";
import { simBlob } from "../harness/sim-blob.ts";
import type { SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;

beforeEach(async () => {
  sim = await simBlob({ hierarchicalNamespace: true });
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
});

describe("which API a request means", () => {
  it.each([
    ["GET", "/a/c/b", {}, false, true],
    ["GET", "/a/c?restype=container&comp=list", {}, false, false],
    ["GET", "/a/c?resource=filesystem&recursive=true", {}, true, true],
    ["PUT", "/a/c/b?resource=file", {}, true, true],
    ["PUT", "/a/c/b", { "x-ms-blob-type": "BlockBlob" }, false, false],
    ["PUT", "/a/c/b", { "x-ms-copy-source": "http://x/y" }, false, false],
    ["PUT", "/a/c/b", { "x-ms-rename-source": "/c/d" }, true, true],
    ["PATCH", "/a/c/b?action=append&position=0", {}, true, true],
    ["PUT", "/a/c/b?position=0", { "x-http-method-override": "PATCH" }, true, true],
    ["HEAD", "/a/c/?action=getAccessControl", {}, true, true],
    ["DELETE", "/a/c/b?recursive=true", {}, true, true],
    ["DELETE", "/a/c/b", {}, false, true],
    ["PUT", "/a/c/b?comp=lease", {}, false, false],
    ["OPTIONS", "/a/c?resource=filesystem", {}, false, false],
    ["GET", "/a/c/recursive=x", {}, false, true],
  ])("%s %s %j", (method, target, headers, atBlob, atDfs) => {
    const request = { method, target, headers };
    expect([isPathRequest(request, "blob"), isPathRequest(request, "dfs")]).toEqual([
      atBlob,
      atDfs,
    ]);
  });
});

describe("a host name of the service", () => {
  it.each([
    ["acc.blob.localhost:10004", false],
    ["acc.BLOB.core.windows.net", false],
    ["acc.dfs.localhost", true],
    ["127.0.0.1:10000", undefined],
    ["blob.localhost", undefined],
    ["acc.blobs.localhost", undefined],
  ])("%s selects the API on both ports", (host, isDfs) => {
    const request = { method: "DELETE", target: "/c/b", headers: { host } };
    const selected = [isPathRequest(request, "blob"), isPathRequest(request, "dfs")];
    expect(selected).toEqual(isDfs === undefined ? [false, true] : [isDfs, isDfs]);
  });
});

describe("the Data Lake API", () => {
  it.each([true, false])("takes a backslash for a slash, as the Blob API (%s)", async (tree) => {
    sim = await simBlob({ hierarchicalNamespace: tree });
    await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
    await sim.sendToDfs({ method: "PUT", path: "/fff/a%5Cb?resource=file" });
    for (const path of ["/fff/a/b", "/fff/a%5Cb", "/fff/a%5cb"]) {
      expect((await sim.sendToDfs({ method: "HEAD", path })).status).toBe(200);
      expect((await sim.send({ method: "HEAD", path })).status).toBe(200);
    }
    const listing = "/fff?resource=filesystem&recursive=true&directory=";
    const { body } = await sim.sendToDfs({ method: "GET", path: `${listing}a%5C` });
    expect(body).toContain('"name":"a/b"');
    const source = { "x-ms-rename-source": "/fff/a%5Cb" };
    const to = { method: "PUT", path: "/fff/a%5Cc?mode=legacy", headers: source };
    expect((await sim.sendToDfs(to)).status).toBe(201);
    expect((await sim.send({ method: "HEAD", path: "/fff/a/c" })).status).toBe(200);
  });

  it("answers faults in JSON, with the code in a header", async () => {
    const { status, code, body, headers } = await sim.sendToDfs({ method: "GET", path: "/fff/x" });
    expect([status, code]).toEqual([404, "PathNotFound"]);
    expect(headers["content-type"]).toBe("application/json; charset=utf-8");
    const { error } = JSON.parse(body) as { error: { code: string; message: string } };
    expect(error.code).toBe("PathNotFound");
    expect(error.message).toMatch(/^The specified path does not exist\.\nRequestId:.*\nTime:/);
    const head = await sim.sendToDfs({ method: "HEAD", path: "/fff/x" });
    expect([head.code, head.body]).toEqual(["PathNotFound", ""]);
  });

  it.each(["devstoreaccount1.dfs.localhost:10004", "DEVSTOREACCOUNT1.dfs.core.windows.net"])(
    "finds the account in the host name %s",
    async (host) => {
      // The path of the request is /fff/file, without the account.
      const made = { account: "fff", path: "/file?resource=file", headers: { host } };
      expect((await sim.sendToDfs({ method: "PUT", ...made })).status).toBe(201);
      const read = await sim.sendToDfs({ method: "HEAD", path: "/fff/file" });
      expect(read.status).toBe(200);
    },
  );

  it("takes PUT for PATCH if a header says so", async () => {
    await sim.sendToDfs({ method: "PUT", path: "/fff/file?resource=file" });
    const headers = { "x-http-method-override": "PATCH" };
    const path = "/fff/file?action=append&position=0";
    const sent = await sim.sendToDfs({ method: "PUT", path, headers, body: "x" });
    expect(sent.status).toBe(202);
    const wrong = { "x-http-method-override": "DELETE" };
    const refused = await sim.sendToDfs({ method: "PUT", path, headers: wrong, body: "x" });
    expect(refused.code).toBe("UnsupportedHttpVerb");
  });

  it("takes an escaped slash for a slash", async () => {
    await sim.sendToDfs({ method: "PUT", path: "/fff/a%2Fb?resource=file" });
    expect((await sim.sendToDfs({ method: "HEAD", path: "/fff/a/b" })).status).toBe(200);
    const root = await sim.sendToDfs({ method: "HEAD", path: "/fff/%2F?action=getAccessControl" });
    expect(root.headers["x-ms-permissions"]).toBe("rwxr-x---");
  });

  it("rejects a request without credentials with 403", async () => {
    sim.callAs(anonymousPrincipal);
    const { status, code } = await sim.sendToDfs({ method: "PUT", path: "/fff/x?resource=file" });
    expect([status, code]).toEqual([403, "AuthenticationFailed"]);
  });
});

describe("an account with a flat namespace", () => {
  beforeEach(async () => {
    sim = await simBlob();
    await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
  });

  it("has files and marked directories, but no access control", async () => {
    await sim.sendToDfs({ method: "PUT", path: "/fff/dir?resource=directory" });
    await sim.sendToDfs({ method: "PUT", path: "/fff/dir/file?resource=file" });
    const path = "/fff/dir/file?action=append&position=0&flush=true";
    expect((await sim.sendToDfs({ method: "PATCH", path, body: "x" })).status).toBe(202);
    expect((await sim.send({ method: "GET", path: "/fff/dir/file" })).body).toBe("x");
    const list = "/fff?resource=filesystem&recursive=true";
    const { body } = await sim.sendToDfs({ method: "GET", path: list });
    const { paths } = JSON.parse(body) as { paths: Record<string, string>[] };
    expect(paths.map(({ name, isDirectory }) => [name, isDirectory])).toEqual([
      ["dir", "true"],
      ["dir/file", undefined],
    ]);
    expect(paths[0]).not.toHaveProperty("owner");
    expect(paths[0]?.["creationTime"]).toMatch(/GMT$/);
    const acl = { method: "HEAD", path: "/fff/dir?action=getAccessControl" };
    const refused = await sim.sendToDfs(acl);
    expect([refused.status, refused.code]).toEqual([400, "HierarchicalNamespaceNotEnabled"]);
    const get = await sim.sendToDfs({ method: "HEAD", path: "/fff?resource=filesystem" });
    expect(get.headers["x-ms-namespace-enabled"]).toBe("false");
  });
});
