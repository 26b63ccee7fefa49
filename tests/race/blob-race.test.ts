import { describe, expect, it } from "vitest";
import { freshName, testServer } from "../harness/server.ts";
import type { RawAnswer, RawCall } from "../harness/raw-client.ts";
import { inForm } from "../harness/long-form.ts";

const held = testServer();
const send = (call: RawCall) => held.blob.send(call);
const racers = 64;
const blockBlob = { "x-ms-blob-type": "BlockBlob" };

async function newContainer(): Promise<string> {
  const container = freshName("race");
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

describe("2 optimistic", () => {
  it("64 clients with one ETag: exactly one succeeds", async () => {
    const path = `/${await newContainer()}/b`;
    const first = await send({ method: "PUT", path, headers: blockBlob, body: "first" });
    const etag = String(first.headers["etag"]);
    const answers = await everyone(racers, (index) =>
      send({ method: "PUT", path, headers: { ...blockBlob, "if-match": etag }, body: `v${index}` }),
    );
    expect(statuses(answers)).toEqual({ 201: 1, 412: racers - 1 });
    const winner = answers.findIndex(({ status }) => status === 201);
    const found = await send({ method: "GET", path });
    expect(found.body.toString()).toBe(`v${winner}`);
    expect(found.headers["etag"]).toBe(answers[winner]!.headers["etag"]);
  });

  it("64 creators with If-None-Match *: exactly one succeeds", async () => {
    const path = `/${await newContainer()}/b`;
    const headers = { ...blockBlob, "if-none-match": "*" };
    const answers = await everyone(racers, (index) =>
      send({ method: "PUT", path, headers, body: `v${index}` }),
    );
    expect(statuses(answers)).toEqual({ 201: 1, 409: racers - 1 });
  });

  it("a read-modify-write loop of 16 clients loses no increment", async () => {
    const path = `/${await newContainer()}/counter`;
    await send({ method: "PUT", path, headers: blockBlob, body: "0" });
    const each = 10;
    await everyone(16, async () => {
      for (let done = 0; done < each;) {
        const read = await send({ method: "GET", path });
        const headers = { ...blockBlob, "if-match": String(read.headers["etag"]) };
        const body = String(Number(read.body.toString()) + 1);
        if ((await send({ method: "PUT", path, headers, body })).status === 201) done += 1;
      }
    });
    expect((await send({ method: "GET", path })).body.toString()).toBe(String(16 * each));
  });
});

describe("2 pessimistic", () => {
  it("64 acquires: exactly one lease", async () => {
    const path = `/${await newContainer()}/b`;
    await send({ method: "PUT", path, headers: blockBlob, body: "x" });
    const headers = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "60" };
    const answers = await everyone(racers, () =>
      send({ method: "PUT", path: `${path}?comp=lease`, headers }),
    );
    expect(statuses(answers)).toEqual({ 201: 1, 409: racers - 1 });
  });

  it("acquires of uncommitted blocks during commits: no commit after the lease", async () => {
    const path = `/${await newContainer()}/b`;
    await send({ method: "PUT", path: `${path}?comp=block&blockid=YQ%3D%3D`, body: "x" });
    const headers = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "60" };
    const body = "<BlockList><Latest>YQ==</Latest></BlockList>";
    const calls = await everyone(racers, (index) =>
      index % 2 === 0
        ? send({ method: "PUT", path: `${path}?comp=lease`, headers })
        : send({ method: "PUT", path: `${path}?comp=blocklist`, body }),
    );
    const leases = calls.filter((_, index) => index % 2 === 0);
    const commits = calls.filter((_, index) => index % 2 === 1);
    expect(statuses(leases)).toEqual({ 201: 1, 409: racers / 2 - 1 });
    // The ETag tells whether the lease was taken before the blob was there.
    const etag = leases.find(({ status }) => status === 201)?.headers["etag"];
    const isCommitted = commits.some(({ status }) => status === 201);
    expect(isCommitted).toBe(etag !== '"0x701CE1722770000"');
    const late = await send({ method: "PUT", path: `${path}?comp=blocklist`, body });
    expect(late.status).toBe(412);
  });

  it("64 container acquires: exactly one lease", async () => {
    const container = await newContainer();
    const path = `/${container}?restype=container&comp=lease`;
    const headers = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
    const answers = await everyone(racers, () => send({ method: "PUT", path, headers }));
    expect(statuses(answers)).toEqual({ 201: 1, 409: racers - 1 });
  });
});

describe("2 last writer wins", () => {
  it("64 unconditional writes all succeed, with distinct ETags in one order", async () => {
    const path = `/${await newContainer()}/b`;
    const answers = await everyone(racers, (index) =>
      send({ method: "PUT", path, headers: blockBlob, body: `v${index}` }),
    );
    expect(statuses(answers)).toEqual({ 201: racers });
    const etags = answers.map(({ headers }) => String(headers["etag"]));
    expect(new Set(etags).size).toBe(racers);
    const found = await send({ method: "GET", path });
    const last = etags.toSorted().at(-1);
    expect(found.headers["etag"]).toBe(last);
    expect(found.body.toString()).toBe(`v${etags.indexOf(last ?? "")}`);
  });
});

describe("1 snapshot isolation", () => {
  it("GETs during overwrites never show an ETag with another version's bytes or length", async () => {
    const path = `/${await newContainer()}/b`;
    const versions = new Map<string, string>();
    // Inline, one slice and many slices: the three forms of content.
    const lengths = [10, 3000, 20_000, 200_000];
    const write = async (index: number) => {
      const body = String(index % 10).repeat(lengths[index % lengths.length]!);
      const answer = await send({ method: "PUT", path, headers: blockBlob, body });
      versions.set(String(answer.headers["etag"]), body);
    };
    await write(0);
    const reads: RawAnswer[] = [];
    const progress = { writing: true };
    const readers = everyone(8, async () => {
      while (progress.writing) reads.push(await send({ method: "GET", path }));
    });
    const writes = inForm(60, 200);
    for (let index = 1; index < writes; index += 1) await write(index);
    progress.writing = false;
    await readers;
    expect(reads.length).toBeGreaterThan(20);
    for (const { headers, body } of reads) {
      const expected = versions.get(String(headers["etag"]));
      expect(body.toString() === expected).toBe(true);
      expect(headers["content-length"]).toBe(String(expected?.length));
    }
  });
});
