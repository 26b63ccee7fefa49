import { beforeEach, describe, expect, test } from "vitest";

import { accounts } from "../../src/account/account-record.ts";
import { eventLog } from "../../src/account/event-log.ts";
import { developmentAccountName } from "../../src/account/settings.ts";
import { FeedWriter } from "../../src/blob/change-feed/feed-writer.ts";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
let writer: FeedWriter;
beforeEach(async () => {
  sim = await simBlob({ changeFeed: true });
  writer = new FeedWriter(sim.runtime);
  await sim.send({ method: "PUT", path: "/box?restype=container" });
});

const hour = 3_600_000;
const feed = "/$blobchangefeed";

async function write(): Promise<void> {
  while (await writer.step(developmentAccountName));
}

async function put(name: string): Promise<void> {
  const headers = { "x-ms-blob-type": "BlockBlob" };
  await sim.send({ method: "PUT", path: `/box/${name}`, body: name, headers });
}

async function names(prefix = ""): Promise<readonly string[]> {
  const path = `${feed}?restype=container&comp=list&prefix=${prefix}`;
  const { body } = await sim.send({ method: "GET", path });
  return [...body.matchAll(/<Name>([^<]*)<\/Name>/g)].map(([, name]) => name!);
}

async function json(name: string): Promise<Record<string, unknown>> {
  const { body } = await sim.send({ method: "GET", path: `${feed}/${name}` });
  return JSON.parse(body) as Record<string, unknown>;
}

const indexName = "meta/segments.json";

describe("the change feed", () => {
  test("has an index, a manifest and chunks for the hours with changes", async () => {
    await write();
    const empty = await names();
    expect(empty).toEqual(["idx/segments/1601/01/01/0000/meta.json", "meta/segments.json"]);
    await put("a");
    await write();
    const [chunk] = await names("log/");
    expect(chunk).toMatch(/^log\/00\/\d{4}\/\d\d\/\d\d\/\d\d00\/00000\.avro$/);
    const [, manifest = ""] = await names("idx/");
    expect(await json(manifest)).toMatchObject({
      status: "Publishing",
      intervalSecs: 3600,
      chunkFilePaths: [`$blobchangefeed/${chunk!.slice(0, -"00000.avro".length)}`],
    });
    const [{ begin }, { lastConsumable }] = [await json(manifest), await json(indexName)];
    expect(Date.parse(String(lastConsumable))).toBeGreaterThan(Date.parse(String(begin)));
  });

  test("passes events of files, which it does not contain", async () => {
    await write();
    const key = accounts.key(developmentAccountName);
    const file = { type: "FileCreated", api: "CreateFile", container: "share", path: "f" } as const;
    const logFile = () =>
      sim.store.transact(async (tx) => {
        const { id } = accounts.codec.decode((await tx.get(key))!);
        tx.append(eventLog.key(id), eventLog.codec.encode({ ...file, time: tx.now }));
      });
    await logFile();
    await write();
    expect(await names("log/")).toEqual([]);
    await put("a");
    await logFile();
    await write();
    const [chunk] = await names("log/");
    const { body } = await sim.send({ method: "GET", path: `${feed}/${chunk}` });
    expect(body).toContain("/box/blobs/a");
    expect(body).not.toContain("FileCreated");
    expect(await writer.step(developmentAccountName)).toBe(false);
  });

  test("adds to the chunk of the hour, and finalises the segment after its end", async () => {
    await put("a");
    await write();
    const [chunk] = await names("log/");
    const first = await sim.send({ method: "GET", path: `${feed}/${chunk}` });
    expect(first.headers["content-type"]).toBe("avro/binary");
    await put("b");
    await write();
    const second = await sim.send({ method: "GET", path: `${feed}/${chunk}` });
    expect(second.body.startsWith(first.body)).toBe(true);
    expect(second.body).toContain("/box/blobs/b");
    sim.clock.advance(hour + 20_000);
    await write();
    const [, manifest = ""] = await names("idx/");
    const { status, begin } = await json(manifest);
    expect(status).toBe("Finalized");
    const consumable = async () => Date.parse(String((await json(indexName))["lastConsumable"]));
    expect(await consumable()).toBe(Date.parse(String(begin)) + hour);
    await put("c");
    await write();
    expect(await names("log/")).toHaveLength(2);
    expect(await consumable()).toBeGreaterThan(Date.parse(String(begin)) + hour);
    const last = await sim.send({ method: "GET", path: `${feed}/${chunk}` });
    expect(last.headers["etag"]).toBe(second.headers["etag"]);
  });

  test("has each event once if several processes write it", async () => {
    for (let index = 0; index < 40; index += 1) await put(`blob-${index}-`);
    const others = [new FeedWriter(sim.runtime), new FeedWriter(sim.runtime), writer];
    const writeAll = async (each: FeedWriter): Promise<void> => {
      while (await each.step(developmentAccountName));
    };
    await Promise.all(others.map(writeAll));
    const [chunk] = await names("log/");
    const { body } = await sim.send({ method: "GET", path: `${feed}/${chunk}` });
    const found = [...body.matchAll(/blobs\/(blob-\d+-)/g)].map(([, name]) => name);
    expect(found).toEqual(Array.from({ length: 40 }, (_, index) => `blob-${index}-`));
  });

  test("drops whole segments after the retention time", async () => {
    sim = await simBlob({ changeFeed: true, changeFeedRetentionDays: 1 });
    writer = new FeedWriter(sim.runtime);
    await sim.send({ method: "PUT", path: "/box?restype=container" });
    await put("a");
    await write();
    sim.clock.advance(12 * hour);
    await put("b");
    await write();
    expect(await names("log/")).toHaveLength(2);
    sim.clock.advance(14 * hour);
    await write();
    expect(await names("log/")).toHaveLength(1);
    expect(await names("idx/")).toHaveLength(2);
  });

  test.each([
    ["PUT", `${feed}/log/x`, { "x-ms-blob-type": "BlockBlob" }],
    ["DELETE", `${feed}/meta/segments.json`, {}],
    ["PUT", `${feed}/meta/segments.json?comp=metadata`, {}],
    ["PUT", `${feed}?restype=container&comp=metadata`, {}],
    ["DELETE", `${feed}?restype=container`, {}],
    [
      "PUT",
      `${feed}/meta/segments.json?comp=lease`,
      { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "15" },
    ],
  ])("%s %s is rejected", async (method, path, headers) => {
    await write();
    const body = method === "PUT" && path.endsWith("x") ? { body: "x" } : {};
    const answer = await sim.send({ method, path, headers, ...body });
    expect(answer).toMatchObject({ status: 403, code: "InsufficientAccountPermissions" });
  });

  test("is in listings of containers only if system containers are included", async () => {
    await write();
    const plain = await sim.send({ method: "GET", path: "/?comp=list" });
    expect(plain.body).not.toContain("$blobchangefeed");
    const all = await sim.send({ method: "GET", path: "/?comp=list&include=system" });
    expect(all.body).toContain("$blobchangefeed");
  });

  test("finalises a segment when a later one begins", async () => {
    await put("a");
    await write();
    sim.clock.advance(hour);
    await put("b");
    await write();
    const manifests = await names("idx/");
    expect(manifests).toHaveLength(3);
    expect(await json(manifests[1]!)).toMatchObject({ status: "Finalized" });
    expect(await json(manifests[2]!)).toMatchObject({ status: "Publishing" });
  });
});
