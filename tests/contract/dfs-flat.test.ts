// The Data Lake API on an account without a hierarchical namespace.
import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
const leaseId = "11111111-2222-3333-4444-555555555555";

beforeEach(async () => {
  sim = await simBlob();
  await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
});

function create(path: string, kind = "file", headers: Record<string, string> = {}) {
  return sim.sendToDfs({ method: "PUT", path: `/fff/${path}?resource=${kind}`, headers });
}

function remove(path: string, query = "") {
  return sim.sendToDfs({ method: "DELETE", path: `/fff/${path}${query}` });
}

async function listed(): Promise<readonly string[]> {
  const path = "/fff?resource=filesystem&recursive=true";
  const { body } = await sim.sendToDfs({ method: "GET", path });
  return (JSON.parse(body) as { paths: { name: string }[] }).paths.map(({ name }) => name);
}

describe("on a flat account a deletion", () => {
  it("of a directory takes along what is below, in portions", async () => {
    await create("dir", "directory");
    await create("dir2/file");
    for (let number = 0; number < 300; number += 1) await create(`dir/f${number}`);
    expect((await remove("dir")).code).toBe("DirectoryNotEmpty");
    const first = await remove("dir", "?recursive=true");
    const token = first.headers["x-ms-continuation"] ?? "";
    expect([first.status, token === ""]).toEqual([200, false]);
    expect(await listed()).toHaveLength(46);
    const query = `?recursive=true&continuation=${encodeURIComponent(token)}`;
    const last = await remove("dir", query);
    expect([last.status, last.headers["x-ms-continuation"]]).toEqual([200, undefined]);
    expect(await listed()).toEqual(["dir2/file"]);
    expect((await remove("dir", "?recursive=true")).code).toBe("PathNotFound");
  });

  it("works without a blob for the directory, and leaves what a file's name begins", async () => {
    for (const path of ["implied/a", "file"]) await create(path);
    const headers = { "x-ms-blob-type": "BlockBlob" };
    await sim.send({ method: "PUT", path: "/fff/file/below", headers });
    expect((await remove("implied", "?recursive=true")).status).toBe(200);
    expect((await remove("file", "?recursive=true")).status).toBe(200);
    expect(await listed()).toEqual(["file/below"]);
  });

  it("changes nothing if a blob below is leased or has snapshots", async () => {
    await create("dir/a");
    await create("dir/b", "file", {
      "x-ms-proposed-lease-id": leaseId,
      "x-ms-lease-duration": "-1",
    });
    expect((await remove("dir", "?recursive=true")).code).toBe("LeaseIdMissing");
    await create("other/a");
    await sim.send({ method: "PUT", path: "/fff/other/a?comp=snapshot" });
    expect((await remove("other", "?recursive=true")).code).toBe("SnapshotsPresent");
    expect(await listed()).toEqual(["dir/a", "dir/b", "other/a"]);
  });

  it("keeps earlier versions where the account keeps them", async () => {
    sim = await simBlob({ versioning: true });
    await sim.sendToDfs({ method: "PUT", path: "/fff?resource=filesystem" });
    for (const path of ["dir/a", "single", "single"]) await create(path);
    for (const path of ["dir", "single"]) {
      const { headers } = await remove(path, "?recursive=true");
      expect(headers["x-ms-delete-type-permanent"]).toBe("false");
    }
    const path = "/fff?restype=container&comp=list&include=versions";
    const { body } = await sim.send({ method: "GET", path });
    expect(body.match(/<VersionId>/g)).toHaveLength(3);
  });
});
