import { expect, it } from "vitest";
import type { RawCall } from "../harness/raw-client.ts";
import { freshName, testServer } from "../harness/server.ts";

const held = testServer({ accounts: { devstoreaccount1: { versioning: true } } });
const racers = 32;

it("every concurrent overwrite leaves its own version, with its own bytes", async () => {
  const container = freshName("versions");
  const send = (call: RawCall) => held.blob.send(call);
  await send({ method: "PUT", path: `/${container}?restype=container` });
  const path = `/${container}/b`;
  const body = (index: number) => String(index).repeat(index % 2 === 0 ? 3 : 9000);
  const answers = await Promise.all(
    Array.from({ length: racers }, (_, index) =>
      send({
        method: "PUT",
        path,
        headers: { "x-ms-blob-type": "BlockBlob" },
        body: body(index),
      }),
    ),
  );
  const versions = answers.map(({ headers }) => String(headers["x-ms-version-id"]));
  expect(new Set(versions).size).toBe(racers);
  for (const [index, version] of versions.entries()) {
    const found = await send({ method: "GET", path: `${path}?versionid=${version}` });
    expect(found.body.toString() === body(index)).toBe(true);
  }
  const current = await send({ method: "HEAD", path });
  expect(current.headers["x-ms-version-id"]).toBe(versions.toSorted().at(-1));
  const listing = await send({
    method: "GET",
    path: `/${container}?restype=container&comp=list&include=versions`,
  });
  const listed = [...listing.body.toString().matchAll(/<VersionId>(.*?)</g)].map(([, id]) => id);
  expect(listed).toEqual(versions.toSorted());
});
