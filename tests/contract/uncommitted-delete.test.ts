import { expect, it } from "vitest";
import { simBlob } from "../harness/sim-blob.ts";

const blockId = Buffer.from("block-1").toString("base64");
const blockPath = `/abc/b?comp=block&blockid=${encodeURIComponent(blockId)}`;
const listPath = "/abc/b?comp=blocklist&blocklisttype=uncommitted";

/** A blob that was deleted, whose name another client prepares to use again. */
async function withBlocks() {
  const blob = await simBlob();
  await blob.send({ method: "PUT", path: "/abc?restype=container" });
  const headers = { "x-ms-blob-type": "BlockBlob" };
  const put = await blob.send({ method: "PUT", path: "/abc/b", headers, body: "first" });
  await blob.send({ method: "DELETE", path: "/abc/b" });
  await blob.send({ method: "PUT", path: blockPath, body: "second" });
  const remove = (conditions: Readonly<Record<string, string>>) =>
    blob.send({ method: "DELETE", path: "/abc/b", headers: conditions });
  const blocks = async () => (await blob.send({ method: "GET", path: listPath })).body;
  return { etag: put.headers["etag"] ?? "", remove, blocks };
}

it("a delete with a condition leaves the uncommitted blocks of other clients alone", async () => {
  const { etag, remove, blocks } = await withBlocks();
  for (const condition of [etag, "*"]) {
    const { status, code } = await remove({ "if-match": condition });
    expect({ status, code }).toEqual({ status: 404, code: "BlobNotFound" });
  }
  expect(await blocks()).toContain(blockId);
});

it("a delete without a condition removes uncommitted blocks", async () => {
  const { remove, blocks } = await withBlocks();
  expect((await remove({})).status).toBe(202);
  expect(await blocks()).not.toContain(blockId);
});
