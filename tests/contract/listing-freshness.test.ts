import { expect, it } from "vitest";
import { testServer } from "../harness/server.ts";
import { rawClient } from "../harness/raw-client.ts";

const held = testServer();

/** A cached listing entry must not be returned after the blob has changed. */
it("lists the current properties of each blob, whatever was cached", async () => {
  const client = rawClient(held.server.urls["blob"] ?? "");
  const put = (path: string, headers: Record<string, string> = {}, body = "") =>
    client.send({ method: "PUT", path, headers, body: Buffer.from(body) });
  const list = async (include = "") => {
    const path = `/fresh?restype=container&comp=list&include=${include}`;
    return Buffer.from((await client.send({ method: "GET", path })).body).toString();
  };
  await put("/fresh?restype=container");
  await put("/fresh/a", { "x-ms-blob-type": "BlockBlob" }, "one");
  await put("/fresh/b", { "x-ms-blob-type": "BlockBlob" }, "other");
  const before = await list();
  expect(await list()).toBe(before);
  expect(before).toContain("<Content-Length>3</Content-Length>");

  await put("/fresh/a", { "x-ms-blob-type": "BlockBlob" }, "three");
  const longer = await list();
  expect(longer).not.toContain("<Content-Length>3</Content-Length>");
  await put("/fresh/a?comp=metadata", { "x-ms-meta-colour": "green" });
  expect(await list()).not.toContain("colour");
  expect(await list("metadata")).toContain("<colour>green</colour>");
  expect(await list()).not.toContain("colour");

  const acquire = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
  const { headers } = await put("/fresh/b?comp=lease", acquire);
  expect(await list()).toContain("<LeaseState>leased</LeaseState>");
  const release = {
    "x-ms-lease-action": "release",
    "x-ms-lease-id": String(headers["x-ms-lease-id"]),
  };
  await put("/fresh/b?comp=lease", release);
  expect(await list()).not.toContain("<LeaseState>leased</LeaseState>");
  await client.send({ method: "DELETE", path: "/fresh/b" });
  expect(await list()).not.toContain("<Name>b</Name>");
});
