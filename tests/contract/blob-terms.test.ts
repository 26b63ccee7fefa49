import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

const day = 86_400_000;
const block = { "x-ms-blob-type": "BlockBlob" };
const retention = (days: number) =>
  "<StorageServiceProperties><DeleteRetentionPolicy>" +
  `<Enabled>true</Enabled><Days>${days}</Days><AllowPermanentDelete>true</AllowPermanentDelete>` +
  "</DeleteRetentionPolicy></StorageServiceProperties>";

let sim: SimBlob;

async function open(settings: Parameters<typeof simBlob>[0] = {}): Promise<void> {
  sim = await simBlob(settings);
  await sim.send({ method: "PUT", path: "/ccc?restype=container" });
}

async function listed(include: string): Promise<readonly string[]> {
  const path = `/ccc?restype=container&comp=list&include=${include}`;
  const { body } = await sim.send({ method: "GET", path });
  return [...body.matchAll(/<Blob>(.*?)<\/Blob>/g)].map(([, entry = ""]) => {
    const deleted = entry.includes("<Deleted>") ? " deleted" : "";
    return (entry.includes("<Snapshot>") ? "snapshot" : "blob") + deleted;
  });
}

describe("soft delete", () => {
  beforeEach(async () => {
    await open();
    const path = "/?restype=service&comp=properties";
    await sim.send({ method: "PUT", path, body: retention(5) });
    await sim.send({ method: "PUT", path: "/ccc/b", headers: block, body: "one" });
  });

  it("ends after the retention period, also before the reclaim job runs", async () => {
    await sim.send({ method: "DELETE", path: "/ccc/b" });
    sim.clock.advance(5 * day - 1000);
    expect(await listed("deleted")).toEqual(["blob deleted"]);
    sim.clock.advance(2000);
    expect(await listed("deleted")).toEqual([]);
    const late = await sim.send({ method: "PUT", path: "/ccc/b?comp=undelete" });
    expect(late.code).toBe("BlobNotFound");
    expect(await sim.reclaim()).toBeGreaterThan(0);
    expect(await listed("deleted,snapshots")).toEqual([]);
  });

  it("keeps an overwritten blob as a deleted snapshot", async () => {
    await sim.send({ method: "PUT", path: "/ccc/b", headers: block, body: "two" });
    expect(await listed("deleted,snapshots")).toEqual(["snapshot deleted", "blob"]);
    await sim.send({ method: "PUT", path: "/ccc/b?comp=undelete" });
    expect(await listed("snapshots")).toEqual(["snapshot", "blob"]);
    expect((await sim.send({ method: "GET", path: "/ccc/b" })).body).toBe("two");
  });

  it("restores the latest of two deleted blobs of one name, the other as a snapshot", async () => {
    await sim.send({ method: "DELETE", path: "/ccc/b" });
    await sim.send({ method: "PUT", path: "/ccc/b", headers: block, body: "two" });
    await sim.send({ method: "DELETE", path: "/ccc/b" });
    expect(await listed("deleted")).toEqual(["snapshot deleted", "blob deleted"]);
    await sim.send({ method: "PUT", path: "/ccc/b?comp=undelete" });
    expect((await sim.send({ method: "GET", path: "/ccc/b" })).body).toBe("two");
    expect(await listed("snapshots")).toEqual(["snapshot", "blob"]);
  });

  it("is ended by a permanent delete, which accepts deleted blobs only", async () => {
    const taken = await sim.send({ method: "PUT", path: "/ccc/b?comp=snapshot" });
    const path = `/ccc/b?snapshot=${taken.headers["x-ms-snapshot"]}`;
    const early = await sim.send({ method: "DELETE", path: `${path}&deletetype=permanent` });
    expect(early.status).toBe(409);
    await sim.send({ method: "DELETE", path });
    expect(await listed("deleted,snapshots")).toEqual(["snapshot deleted", "blob"]);
    await sim.send({ method: "DELETE", path: `${path}&deletetype=permanent` });
    expect(await listed("deleted,snapshots")).toEqual(["blob"]);
  });
});

describe("expiry and restore", () => {
  it("an expired blob is absent and its name is free", async () => {
    await open({ hierarchicalNamespace: true });
    await sim.send({ method: "PUT", path: "/ccc/b", headers: block, body: "x".repeat(9000) });
    const headers = { "x-ms-expiry-option": "RelativeToNow", "x-ms-expiry-time": "60000" };
    const set = await sim.send({ method: "PUT", path: "/ccc/b?comp=expiry", headers });
    expect(set.status).toBe(200);
    const before = await sim.send({ method: "HEAD", path: "/ccc/b" });
    expect(before.headers["x-ms-expiry-time"]).toBeDefined();
    sim.clock.advance(60_001);
    expect((await sim.send({ method: "GET", path: "/ccc/b" })).code).toBe("BlobNotFound");
    expect(await listed("")).toEqual([]);
    const create = { ...block, "if-none-match": "*" };
    await sim.send({ method: "PUT", path: "/ccc/b", headers: create, body: "new" });
    await sim.reclaim();
    expect((await sim.send({ method: "GET", path: "/ccc/b" })).body).toBe("new");
  });

  it("a deleted container can be restored under its own or another name during retention", async () => {
    await open({ containerSoftDeleteDays: 2 });
    await sim.send({ method: "PUT", path: "/ccc/b", headers: block, body: "inside" });
    await sim.send({ method: "DELETE", path: "/ccc?restype=container" });
    const listing = await sim.send({ method: "GET", path: "/?comp=list&include=deleted" });
    const version = /<Version>(.*?)</.exec(listing.body)?.[1] ?? "";
    const headers = {
      "x-ms-deleted-container-name": "ccc",
      "x-ms-deleted-container-version": version,
    };
    const restore = (name: string) =>
      sim.send({ method: "PUT", path: `/${name}?restype=container&comp=undelete`, headers });
    sim.clock.advance(2 * day - 1000);
    await sim.reclaim();
    expect((await restore("other")).status).toBe(201);
    expect((await sim.send({ method: "GET", path: "/other/b" })).body).toBe("inside");
    expect((await restore("ccc")).code).toBe("ContainerNotFound");
  });

  it("a renamed container keeps its blobs and frees its name", async () => {
    await open();
    await sim.send({ method: "PUT", path: "/ccc/b", headers: block, body: "inside" });
    const headers = { "x-ms-source-container-name": "ccc" };
    const path = "/d12?restype=container&comp=rename";
    expect((await sim.send({ method: "PUT", path, headers })).status).toBe(200);
    expect((await sim.send({ method: "GET", path: "/d12/b" })).body).toBe("inside");
    expect((await sim.send({ method: "GET", path: "/ccc/b" })).code).toBe("ContainerNotFound");
  });
});
