import { describe, expect, it } from "vitest";
import { freshName, testServer } from "../harness/server.ts";
import { accountSas, type RawAnswer, type RawCall } from "../harness/raw-client.ts";

const held = testServer();
const send = (call: RawCall) => held.blob.send(call);
const racers = 48;

async function newContainer(): Promise<string> {
  const container = freshName("types");
  await send({ method: "PUT", path: `/${container}?restype=container` });
  return container;
}

function everyone<T>(count: number, run: (index: number) => Promise<T>): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => run(index)));
}

function statuses(answers: readonly RawAnswer[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

function numbers(answers: readonly RawAnswer[], header: string): readonly number[] {
  return answers.map(({ headers }) => Number(headers[header])).toSorted((a, b) => a - b);
}

describe("append blobs", () => {
  async function newAppendBlob(): Promise<string> {
    const path = `/${await newContainer()}/log`;
    await send({ method: "PUT", path, headers: { "x-ms-blob-type": "AppendBlob" } });
    return path;
  }

  it("parallel appends get contiguous, distinct offsets and counts, and no line is lost", async () => {
    const path = await newAppendBlob();
    const line = (index: number) => `${String(index).padStart(7, "0")}\n`;
    const answers = await everyone(racers, (index) =>
      send({ method: "PUT", path: `${path}?comp=appendblock`, body: line(index) }),
    );
    expect(statuses(answers)).toEqual({ 201: racers });
    const steps = Array.from({ length: racers }, (_, index) => index);
    expect(numbers(answers, "x-ms-blob-append-offset")).toEqual(steps.map((step) => step * 8));
    const counts = numbers(answers, "x-ms-blob-committed-block-count");
    expect(counts).toEqual(steps.map((step) => step + 1));
    const text = (await send({ method: "GET", path })).body.toString();
    for (const [index, { headers }] of answers.entries()) {
      const offset = Number(headers["x-ms-blob-append-offset"]);
      expect(text.slice(offset, offset + 8)).toBe(line(index));
    }
  });

  it("of appends at one position exactly one succeeds", async () => {
    const path = await newAppendBlob();
    const headers = { "x-ms-blob-condition-appendpos": "0" };
    const answers = await everyone(racers, () =>
      send({ method: "PUT", path: `${path}?comp=appendblock`, headers, body: "x" }),
    );
    expect(statuses(answers)).toEqual({ 201: 1, 412: racers - 1 });
  });

  it("nothing is appended after an acknowledged seal", async () => {
    const path = await newAppendBlob();
    const appends = everyone(racers, () =>
      send({ method: "PUT", path: `${path}?comp=appendblock`, body: "x" }),
    );
    const seal = await send({ method: "PUT", path: `${path}?comp=seal` });
    const answers = await appends;
    expect(seal.status).toBe(200);
    const appended = answers.filter(({ status }) => status === 201).length;
    expect((await send({ method: "GET", path })).body.length).toBe(appended);
    const late = await send({ method: "PUT", path: `${path}?comp=appendblock`, body: "x" });
    expect(late.code).toBe("BlobIsSealed");
  });
});

describe("page blobs", () => {
  it("writers that expect a sequence number succeed only before it changes", async () => {
    const path = `/${await newContainer()}/disk`;
    const created = { "x-ms-blob-type": "PageBlob", "x-ms-blob-content-length": "51200" };
    await send({ method: "PUT", path, headers: created });
    const page = (index: number) => Buffer.alloc(512, index + 1);
    const range = (index: number) => `bytes=${index * 512}-${index * 512 + 511}`;
    const write = (index: number) =>
      send({
        method: "PUT",
        path: `${path}?comp=page`,
        headers: {
          "x-ms-page-write": "update",
          "x-ms-range": range(index),
          "x-ms-if-sequence-number-eq": "0",
        },
        body: page(index),
      });
    const increment = { "x-ms-sequence-number-action": "increment" };
    const [answers, raised] = await Promise.all([
      everyone(racers, write),
      send({ method: "PUT", path: `${path}?comp=properties`, headers: increment }),
    ]);
    expect(raised.headers["x-ms-blob-sequence-number"]).toBe("1");
    const bytes = (await send({ method: "GET", path })).body;
    for (const [index, { status, code }] of answers.entries()) {
      const found = bytes.subarray(index * 512, index * 512 + 512);
      const expected = status === 201 ? page(index) : Buffer.alloc(512);
      if (status !== 201) expect(code).toBe("SequenceNumberConditionNotMet");
      expect(found.equals(expected)).toBe(true);
    }
    expect((await write(0)).status).toBe(412);
  });
});

describe("copies", () => {
  it("no copy changes a blob after its lease was acquired", async () => {
    const container = await newContainer();
    const block = { "x-ms-blob-type": "BlockBlob" };
    await send({ method: "PUT", path: `/${container}/source`, headers: block, body: "new" });
    await send({ method: "PUT", path: `/${container}/target`, headers: block, body: "old" });
    const base = `${held.server.urls.blob}/devstoreaccount1/${container}`;
    const copy = () =>
      send({
        method: "PUT",
        path: `/${container}/target`,
        headers: { "x-ms-copy-source": `${base}/source?${accountSas()}` },
      });
    const copies = everyone(racers, copy);
    const lease = await send({
      method: "PUT",
      path: `/${container}/target?comp=lease`,
      headers: { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" },
    });
    const answers = await copies;
    expect(lease.status).toBe(201);
    for (const { status, code } of answers) {
      if (status !== 202) expect([status, code]).toEqual([412, "LeaseIdMissing"]);
    }
    const taken = answers.filter(({ status }) => status === 202);
    const etags = taken.map(({ headers }) => String(headers["etag"])).toSorted();
    const found = await send({ method: "GET", path: `/${container}/target` });
    if (taken.length > 0) expect(found.headers["etag"]).toBe(etags.at(-1));
    expect(found.body.toString()).toBe(taken.length > 0 ? "new" : "old");
    expect((await copy()).code).toBe("LeaseIdMissing");
  });
});

describe("blocks", () => {
  it("a delete and a commit are serialized in either order", async () => {
    const container = await newContainer();
    const id = Buffer.from("block-1").toString("base64");
    const list = `<BlockList><Latest>${id}</Latest></BlockList>`;
    await everyone(16, async (index) => {
      const path = `/${container}/b${index}`;
      const headers = { "x-ms-blob-type": "BlockBlob" };
      await send({ method: "PUT", path, headers, body: "before" });
      const block = `${path}?comp=block&blockid=${encodeURIComponent(id)}`;
      await send({ method: "PUT", path: block, body: "after" });
      const [commit, removal] = await Promise.all([
        send({ method: "PUT", path: `${path}?comp=blocklist`, body: list }),
        send({ method: "DELETE", path }),
      ]);
      const found = await send({ method: "GET", path });
      expect(removal.status).toBe(202);
      // A delete removes uncommitted blocks, so a commit after it finds none.
      if (commit.status === 201) expect(found.status).toBe(404);
      else expect([commit.code, found.status]).toEqual(["InvalidBlockList", 404]);
    });
  });
});
