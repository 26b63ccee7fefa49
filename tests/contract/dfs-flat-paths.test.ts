// What Hadoop's driver needs of the Data Lake API on an account with a flat namespace.
import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;

beforeEach(async () => {
  sim = await simBlob();
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
});

function create(path: string, kind = "file") {
  return sim.sendToDfs({ method: "PUT", path: `/fff/${path}?resource=${kind}` });
}

function rename(from: string, to: string) {
  const headers = { "x-ms-rename-source": `/fff/${from}` };
  return sim.sendToDfs({ method: "PUT", path: `/fff/${to}?mode=legacy`, headers });
}

function list(directory: string) {
  const path = `/fff?resource=filesystem&recursive=false&directory=${directory}`;
  return sim.sendToDfs({ method: "GET", path });
}

async function outcome(answer: Promise<{ status: number; code: string | undefined }>) {
  const { status, code } = await answer;
  return [status, code];
}

describe("on a flat account", () => {
  it.each(["", "?action=getStatus"])("HEAD%s tells files from directories", async (query) => {
    for (const path of ["file", "implied/file"]) await create(path);
    await create("dir", "directory");
    const typeOf = async (path: string) => {
      const head = await sim.sendToDfs({ method: "HEAD", path: `/fff/${path}${query}` });
      return head.headers["x-ms-resource-type"] ?? head.code;
    };
    expect(await typeOf("file")).toBe("file");
    expect(await typeOf("dir")).toBe("directory");
    expect(await typeOf("implied")).toBe("directory");
    expect(await typeOf("")).toBe("directory");
    expect(await typeOf("impl")).toBe("PathNotFound");
    expect(await typeOf("file/x")).toBe("PathNotFound");
    const byBlob = await sim.send({ method: "HEAD", path: "/fff/implied" });
    expect(byBlob.code).toBe("BlobNotFound");
  });

  it("a missing directory is not listed, and a file is listed as itself", async () => {
    await create("implied/file");
    await create("empty", "directory");
    expect(await outcome(list("missing"))).toEqual([404, "PathNotFound"]);
    expect(await outcome(list("impl"))).toEqual([404, "PathNotFound"]);
    expect(JSON.parse((await list("empty")).body)).toEqual({ paths: [] });
    const file = JSON.parse((await list("implied/file")).body) as { paths: object[] };
    expect(file.paths).toMatchObject([{ name: "implied/file" }]);
  });

  it("a rename needs the parent of its destination", async () => {
    for (const path of ["one", "two", "implied/file"]) await create(path);
    const missing = [404, "RenameDestinationParentPathNotFound"];
    expect(await outcome(rename("one", "missing/one"))).toEqual(missing);
    expect(await outcome(rename("one", "two/one"))).toEqual([409, "PathConflict"]);
    expect((await rename("one", "implied/one")).status).toBe(201);
  });

  it("a repeated rename reports the missing source, not the existing destination", async () => {
    await create("one");
    const headers = { "x-ms-rename-source": "/fff/one", "if-none-match": "*" };
    const again = { method: "PUT", path: "/fff/two?mode=legacy", headers };
    expect(await outcome(sim.sendToDfs(again))).toEqual([201, undefined]);
    expect(await outcome(sim.sendToDfs(again))).toEqual([404, "SourcePathNotFound"]);
    await create("one");
    expect(await outcome(sim.sendToDfs(again))).toEqual([409, "PathAlreadyExists"]);
  });

  it("no file is created where a directory is, and the reverse", async () => {
    for (const path of ["file", "implied/file"]) await create(path);
    await create("dir", "directory");
    const conflict = [409, "PathConflict"];
    expect(await outcome(create("file", "directory"))).toEqual(conflict);
    expect(await outcome(create("dir"))).toEqual(conflict);
    expect(await outcome(create("implied"))).toEqual(conflict);
    expect(await outcome(create("file/below"))).toEqual(conflict);
    expect(await outcome(create("file/below/deep", "directory"))).toEqual(conflict);
    expect((await create("implied", "directory")).status).toBe(201);
    expect((await create("file")).status).toBe(201);
  });

  it("a directory stays when its last path is deleted or renamed", async () => {
    const types = (...paths: string[]) =>
      Promise.all(
        paths.map(async (path) => {
          const head = await sim.sendToDfs({ method: "HEAD", path: `/fff/${path}` });
          return head.headers["x-ms-resource-type"] ?? head.code;
        }),
      );
    for (const path of ["a/b/file", "c/d/sub/file", "e/f/one", "e/f/one-2", "g/h/x/y"]) {
      await create(path);
    }
    const remove = (path: string) =>
      outcome(sim.sendToDfs({ method: "DELETE", path: `/fff/${path}?recursive=true` }));
    expect(await remove("a/b/file")).toEqual([200, undefined]);
    expect(await remove("c/d/sub")).toEqual([200, undefined]);
    expect(await remove("e/f/one")).toEqual([200, undefined]);
    expect(await outcome(rename("g/h/x", "moved"))).toEqual([201, undefined]);
    expect(await types("a/b", "c/d", "c/d/sub", "e/f", "g/h", "moved/y")).toEqual([
      "directory",
      "directory",
      "PathNotFound",
      "directory",
      "directory",
      "file",
    ]);
    await create("k/only");
    expect(await outcome(rename("k/only", "k/other"))).toEqual([201, undefined]);
    expect(await outcome(rename("k/other", "k"))).toEqual([201, undefined]);
    expect(await types("k")).toEqual(["file"]);
    // Only where the directory would have vanished.
    const blobs = async (path: string) =>
      (await sim.send({ method: "HEAD", path: `/fff/${path}` })).status;
    expect(await Promise.all(["a/b", "a", "e/f", "g/h"].map(blobs))).toEqual([200, 404, 404, 200]);
    expect(await remove("a/b")).toEqual([200, undefined]);
    expect(await remove("a")).toEqual([200, undefined]);
    expect(await types("a")).toEqual(["PathNotFound"]);
  });

  it("a second creation reports the lease of the file", async () => {
    const headers = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
    const proposed = { "x-ms-proposed-lease-id": "01234567-89ab-cdef-0123-456789abcdef" };
    await create("file");
    const path = "/fff/file";
    await sim.sendToDfs({ method: "POST", path, headers: { ...headers, ...proposed } });
    const free = { "if-none-match": "*" };
    const again = { method: "PUT", path: `${path}?resource=file`, headers: free };
    expect(await outcome(sim.sendToDfs(again))).toEqual([412, "LeaseIdMissing"]);
  });

  it("a listing begins at the name that Hadoop writes into its token", async () => {
    for (const path of ["dir/a", "dir/b", "dir/c"]) await create(path);
    const from = async (text: string) => {
      const encoded = Buffer.from(text).toString("base64").replaceAll("=", "-");
      const token = encodeURIComponent(`2!${encoded.length}!${encoded}`);
      const { status, body } = await list(`dir&continuation=${token}`);
      if (status !== 200) return status;
      const { paths } = JSON.parse(body) as { paths: { name: string }[] };
      return paths.map(({ name }) => name);
    };
    const date = "000028!2026-11-16T21:56:23.0000899Z!";
    expect(await from(`000003!dir!000005!dir/b!${date}`)).toEqual(["dir/b", "dir/c"]);
    expect(await from(`000003!dir!000006!dir/a1!${date}`)).toEqual(["dir/b", "dir/c"]);
    expect(await from(`000003!dir!000005!dir/z!${date}`)).toEqual([]);
    expect(await from("000003!dir")).toBe(400);
  });
});
