import { beforeEach, describe, expect, test } from "vitest";

import { formatIso } from "../../src/base/dates.ts";
import { loggedEvents } from "../harness/event-log.ts";
import type { RawCall } from "../harness/raw-client.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
beforeEach(async () => {
  sim = await simBlob({ changeFeed: true });
  await sim.send({ method: "PUT", path: "/box?restype=container" });
});

const events = () => loggedEvents(sim.store);

const blockBlob = { "x-ms-blob-type": "BlockBlob" };

function put(path: string, body = "hello", headers: RawCall["headers"] = {}): Promise<unknown> {
  return sim.send({ method: "PUT", path, body, headers: { ...blockBlob, ...headers } });
}

describe("events of blobs", () => {
  test("are written for each change, in the order of the commits", async () => {
    await put("/box/a", "hello", {
      "x-ms-client-request-id": "mine",
      "content-type": "text/plain",
    });
    await sim.send({
      method: "PUT",
      path: "/box/a?comp=metadata",
      headers: { "x-ms-meta-k": "v" },
    });
    await sim.send({
      method: "PUT",
      path: "/box/a?comp=properties",
      headers: { "x-ms-blob-cache-control": "no-store" },
    });
    await sim.send({ method: "PUT", path: "/box/a?comp=snapshot" });
    await sim.send({
      method: "PUT",
      path: "/box/a?comp=tier",
      headers: { "x-ms-access-tier": "Cool" },
    });
    await put("/box/a", "longer than before");
    await sim.send({
      method: "DELETE",
      path: "/box/a",
      headers: { "x-ms-delete-snapshots": "include" },
    });
    const found = await events();
    expect(found.map(({ type, api }) => `${type}/${api}`)).toEqual([
      "BlobCreated/PutBlob",
      "BlobPropertiesUpdated/SetBlobMetadata",
      "BlobPropertiesUpdated/SetBlobProperties",
      "BlobSnapshotCreated/SnapshotBlob",
      "BlobTierChanged/SetBlobTier",
      "BlobCreated/PutBlob",
      "BlobDeleted/DeleteBlob",
      "BlobDeleted/DeleteBlob",
    ]);
    expect(found[0]).toMatchObject({
      container: "box",
      path: "a",
      clientRequestId: "mine",
      contentType: "text/plain",
      contentLength: 5,
      blobType: "BlockBlob",
    });
    expect(found[2]?.updated).toEqual({
      CacheControl: { current: "no-store", previous: "" },
      ContentMD5: { current: "", previous: expect.any(String) },
      ContentType: { current: "", previous: "text/plain" },
    });
    expect(found[3]?.snapshot).toBe(found[6]?.snapshot);
    expect(found[5]?.contentLength).toBe(18);
    expect(found[7]?.snapshot).toBeUndefined();
  });

  test("have the request id of the response", async () => {
    const answer = await sim.send({ method: "PUT", path: "/box/a", body: "x", headers: blockBlob });
    const [event] = await events();
    expect(event?.requestId).toBe(answer.headers["x-ms-request-id"]);
  });

  test("have the length of committed blocks, pages and appends", async () => {
    const id = Buffer.from("1").toString("base64");
    await sim.send({ method: "PUT", path: `/box/b?comp=block&blockid=${id}`, body: "0123456789" });
    const list = `<BlockList><Latest>${id}</Latest></BlockList>`;
    await sim.send({ method: "PUT", path: "/box/b?comp=blocklist", body: list });
    await sim.send({
      method: "PUT",
      path: "/box/p",
      headers: { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "1024" },
    });
    await sim.send({ method: "PUT", path: "/box/l", headers: { "x-ms-blob-type": "AppendBlob" } });
    await sim.send({ method: "PUT", path: "/box/l?comp=appendblock", body: "x" });
    const found = await events();
    expect(found.map(({ api, contentLength, blobType }) => [api, contentLength, blobType])).toEqual(
      [
        ["PutBlockList", 10, "BlockBlob"],
        ["PutBlob", 1024, "PageBlob"],
        ["PutBlob", 0, "AppendBlob"],
      ],
    );
  });

  test("are not written for rejected requests, and for requests that change nothing", async () => {
    await put("/box/a");
    const before = await events();
    const rejected = await sim.send({
      method: "PUT",
      path: "/box/a",
      body: "x",
      headers: { ...blockBlob, "if-none-match": "*" },
    });
    expect(rejected.status).toBe(409);
    await sim.send({ method: "DELETE", path: "/box/missing" });
    await sim.send({ method: "PUT", path: "/box/a?comp=undelete" });
    await sim.send({ method: "GET", path: "/box/a" });
    await sim.send({ method: "DELETE", path: "/box?restype=container" });
    expect(await events()).toEqual(before);
  });

  test("name what has changed: tags, tiers and versions", async () => {
    sim = await simBlob({ changeFeed: true, versioning: true });
    await sim.send({ method: "PUT", path: "/box?restype=container" });
    await put("/box/a", "1", { "x-ms-tags": "k=1" });
    await put("/box/a", "2", { "x-ms-tags": "k=2" });
    const body = "<Tags><TagSet><Tag><Key>k</Key><Value>3</Value></Tag></TagSet></Tags>";
    await sim.send({ method: "PUT", path: "/box/a?comp=tags", body });
    const [first, second, third] = await events();
    expect(second?.previous).toEqual({
      LastVersion: formatIso(first!.versionId!),
      BlobVersion: formatIso(second!.versionId!),
    });
    expect(second?.versionId).not.toBe(first?.versionId);
    expect(third).toMatchObject({
      api: "SetBlobTags",
      tags: { previous: { k: "2" }, current: { k: "3" } },
    });
  });

  test("name the end of a rehydration, when its time has come", async () => {
    const tier = (name: string) =>
      sim.send({ method: "PUT", path: "/box/a?comp=tier", headers: { "x-ms-access-tier": name } });
    await put("/box/a");
    await tier("Archive");
    await tier("Hot");
    sim.clock.advance(14 * 3_600_000);
    await sim.reclaim();
    // A change after the end, before the job.
    const texts = async () => (await events()).map(({ type, tier: to }) => `${type} ${to}`);
    const before = await texts();
    expect(before.at(-1)).toBe("BlobAsyncOperationInitiated Archive");
    sim.clock.advance(3_600_001);
    await sim.send({
      method: "PUT",
      path: "/box/a?comp=metadata",
      headers: { "x-ms-meta-k": "v" },
    });
    await sim.reclaim();
    await sim.reclaim();
    const after = await texts();
    expect(after.slice(before.length)).toEqual([
      "BlobPropertiesUpdated Hot",
      "BlobTierChanged Hot",
    ]);
    expect((await events()).at(-1)?.previous).toEqual({ PreviousTier: "Archive" });
  });

  test("are not written without an event log", async () => {
    sim = await simBlob();
    await sim.send({ method: "PUT", path: "/box?restype=container" });
    await put("/box/a");
    expect(await events()).toEqual([]);
  });
});
