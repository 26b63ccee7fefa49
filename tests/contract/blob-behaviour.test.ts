import { describe, expect, it } from "vitest";
import { operations } from "../../src/blob/operations.ts";
import type { Operation } from "../../src/operation/operation.ts";
import { freshName, testServer } from "../harness/server.ts";
import type { RawAnswer, RawCall } from "../harness/raw-client.ts";
import { blobExamples, containerExamples, type Example, type Place } from "./blob-examples.ts";

const held = testServer();
const send = (call: RawCall) => held.blob.send(call);
const otherETag = '"0x8D0000000000001"';
const otherLease = "11111111-2222-3333-4444-555555555555";

interface Case {
  readonly id: string;
  readonly operation: Operation;
  readonly example: Example;
}

function cases(examples: Readonly<Record<string, Example>>): readonly Case[] {
  return Object.entries(examples).map(([id, example]) => {
    const operation = operations.find(({ ids }) => ids.includes(id));
    if (operation === undefined) throw new Error(`no declaration has the id ${id}`);
    return { id, operation, example };
  });
}

async function newPlace(): Promise<Place> {
  const place = { container: freshName(), blob: "b" };
  await send({ method: "PUT", path: `/${place.container}?restype=container` });
  const headers = { "x-ms-blob-type": "BlockBlob", "x-ms-meta-kept": "yes" };
  await send({ method: "PUT", path: `/${place.container}/b`, headers, body: "original" });
  return place;
}

function withHeaders(call: RawCall, headers: Readonly<Record<string, string>>): RawCall {
  return { ...call, headers: { ...call.headers, ...headers } };
}

/** Everything a client can see of the blob; a rejected request must not change it. */
async function look(place: Place): Promise<unknown> {
  const path = `/${place.container}/${place.blob}`;
  const blob = await send({ method: "GET", path });
  const blocks = await send({ method: "GET", path: `${path}?comp=blocklist&blocklisttype=all` });
  const listing = await send({
    method: "GET",
    path: `/${place.container}?restype=container&comp=list&include=metadata,snapshots`,
  });
  const { date: _date, "x-ms-request-id": _id, ...headers } = blob.headers;
  return [
    blob.status,
    headers,
    blob.body.toString(),
    blocks.body.toString(),
    listing.body.toString(),
  ];
}

async function lease(path: string): Promise<string> {
  const headers = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
  const answer = await send({ method: "PUT", path, headers });
  return String(answer.headers["x-ms-lease-id"]);
}

const blobCases = cases(blobExamples);
const accepting = blobCases.filter(({ operation }) =>
  ["read", "write", "create"].includes(operation.conditions),
);

describe.each(accepting)("3 blob conditions: $id", ({ operation, example }) => {
  it("rejects a stale If-Match with 412 and changes nothing", async () => {
    const place = await newPlace();
    const before = await look(place);
    const answer = await send(withHeaders(example(place), { "if-match": otherETag }));
    expect([answer.status, answer.code]).toEqual([412, "ConditionNotMet"]);
    expect(await look(place)).toEqual(before);
  });

  it("performs the operation with the current ETag", async () => {
    const place = await newPlace();
    const etag = await currentETag(place);
    const answer = await send(withHeaders(example(place), { "if-match": etag }));
    expect(answer.status).toBeLessThan(300);
  });

  it("rejects If-None-Match with the current ETag, 304 for reads and 412 for writes", async () => {
    const place = await newPlace();
    const before = await look(place);
    const etag = await currentETag(place);
    const answer = await send(withHeaders(example(place), { "if-none-match": etag }));
    expect(answer.status).toBe(operation.conditions === "read" ? 304 : 412);
    expect(answer.headers["etag"]).toBeUndefined();
    expect(await look(place)).toEqual(before);
  });

  it("rejects If-Unmodified-Since in the past with 412", async () => {
    const place = await newPlace();
    const past = { "if-unmodified-since": "Mon, 01 Jan 2001 00:00:00 GMT" };
    const answer = await send(withHeaders(example(place), past));
    expect([answer.status, answer.code]).toEqual([412, "ConditionNotMet"]);
  });

  it("rejects If-Modified-Since in the future", async () => {
    const place = await newPlace();
    const future = { "if-modified-since": "Sun, 01 Jan 2090 00:00:00 GMT" };
    const answer = await send(withHeaders(example(place), future));
    expect(answer.status).toBe(operation.conditions === "read" ? 304 : 412);
  });
});

describe.each(blobCases)("3 blob ETag: $id", ({ operation, example }) => {
  it(`follows the policy "${operation.etag}"`, async () => {
    const place = await newPlace();
    const before = await currentETag(place);
    const answer = await send(example(place));
    expect(answer.status).toBeLessThan(300);
    expect(answer.headers["etag"] !== undefined).toBe(operation.etag !== "none");
    if (operation.etag === "renew") expect(answer.headers["etag"]).not.toBe(before);
    if (operation.etag === "keep") expect(answer.headers["etag"]).toBe(before);
    if (operation.name === "Delete Blob") return;
    const after = await currentETag(place);
    expect(after === before).toBe(operation.etag !== "renew");
  });
});

const leaseBound = blobCases.filter(({ operation }) => operation.lease !== "action");

describe.each(leaseBound)("3 blob leases: $id", ({ operation, example }) => {
  const writes = operation.lease === "match-if-leased";

  it(writes ? "needs the id of the lease" : "reads without the id", async () => {
    const place = await newPlace();
    await lease(`/${place.container}/b?comp=lease`);
    const before = await look(place);
    const answer = await send(example(place));
    if (!writes) return expect(answer.status).toBeLessThan(300);
    expect([answer.status, answer.code]).toEqual([412, "LeaseIdMissing"]);
    expect(await look(place)).toEqual(before);
    return undefined;
  });

  it("rejects another lease id with 412", async () => {
    const place = await newPlace();
    await lease(`/${place.container}/b?comp=lease`);
    const before = await look(place);
    const answer = await send(withHeaders(example(place), { "x-ms-lease-id": otherLease }));
    expect(answer.status).toBe(412);
    if (answer.code !== undefined) expect(answer.code).toBe("LeaseIdMismatchWithBlobOperation");
    expect(await look(place)).toEqual(before);
  });

  it("rejects a lease id if there is no lease", async () => {
    const place = await newPlace();
    const answer = await send(withHeaders(example(place), { "x-ms-lease-id": otherLease }));
    expect([answer.status, answer.code]).toEqual([412, "LeaseNotPresentWithBlobOperation"]);
  });

  it("accepts the lease id", async () => {
    const place = await newPlace();
    const id = await lease(`/${place.container}/b?comp=lease`);
    const answer = await send(withHeaders(example(place), { "x-ms-lease-id": id }));
    expect(answer.status).toBeLessThan(300);
  });
});

describe.each(cases(containerExamples))("3 container leases: $id", ({ operation, example }) => {
  it("only Delete Container requires the lease", async () => {
    const place = await newPlace();
    const id = await lease(`/${place.container}?restype=container&comp=lease`);
    const without = await send(example(place));
    if (operation.name === "Delete Container") {
      expect([without.status, without.code]).toEqual([412, "LeaseIdMissing"]);
    } else {
      expect(without.status).toBeLessThan(300);
    }
    const withOther = await send(withHeaders(example(place), { "x-ms-lease-id": otherLease }));
    expect(withOther.status).toBe(412);
    const withId = await send(withHeaders(example(place), { "x-ms-lease-id": id }));
    expect(withId.status).toBeLessThan(300);
  });
});

describe("3 container conditions", () => {
  it.each([
    ["Container_SetMetadata", { "if-match": otherETag }],
    ["Container_Delete", { "if-match": otherETag }],
    ["Container_Delete", { "if-unmodified-since": "Mon, 01 Jan 2001 00:00:00 GMT" }],
    ["Container_SetMetadata", { "if-modified-since": "Sun, 01 Jan 2090 00:00:00 GMT" }],
  ])("%s evaluates %o", async (id, headers) => {
    const place = await newPlace();
    const call = containerExamples[id]!(place);
    const answer = await send(withHeaders(call, headers));
    expect([answer.status, answer.code]).toEqual([412, "ConditionNotMet"]);
    expect((await send(call)).status).toBeLessThan(300);
  });
});

async function currentETag(place: Place): Promise<string> {
  const answer: RawAnswer = await send({ method: "HEAD", path: `/${place.container}/b` });
  return String(answer.headers["etag"]);
}
