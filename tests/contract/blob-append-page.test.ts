import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";

let sim: SimBlob;
type Headers = Readonly<Record<string, string>>;

const put = (path: string, headers: Headers = {}, body?: string) =>
  sim.send({ method: "PUT", path, headers, ...(body === undefined ? {} : { body }) });

beforeEach(async () => {
  sim = await simBlob();
  await put("/ccc?restype=container");
});

describe("append blobs", () => {
  beforeEach(async () => {
    await put("/ccc/log", { "x-ms-blob-type": "AppendBlob" });
    await put("/ccc/log?comp=appendblock", {}, "12345");
  });

  it.each([
    [{ "x-ms-blob-condition-appendpos": "5" }, 201, undefined],
    [{ "x-ms-blob-condition-appendpos": "0" }, 412, "AppendPositionConditionNotMet"],
    [{ "x-ms-blob-condition-appendpos": "-1" }, 400, "InvalidHeaderValue"],
    [{ "x-ms-blob-condition-maxsize": "8" }, 201, undefined],
    [{ "x-ms-blob-condition-maxsize": "7" }, 412, "MaxBlobSizeConditionNotMet"],
    [{ "if-match": '"0x8D0000000000000"' }, 412, "ConditionNotMet"],
    [{ "x-ms-lease-id": "00000000-0000-0000-0000-000000000001" }, 412, notLeased()],
    [{ "content-md5": "AAAAAAAAAAAAAAAAAAAAAA==" }, 400, "Md5Mismatch"],
  ] as const)("appends 3 bytes with %o: %i %s", async (headers, status, code) => {
    const answer = await put("/ccc/log?comp=appendblock", headers, "678");
    expect([answer.status, answer.code]).toEqual([status, code]);
    const found = await sim.send({ method: "GET", path: "/ccc/log" });
    expect(found.body).toBe(status === 201 ? "12345678" : "12345");
    expect(found.headers["x-ms-blob-committed-block-count"]).toBe(status === 201 ? "2" : "1");
  });

  it("reject an empty block, a body at creation, and blocks for other blob types", async () => {
    expect((await put("/ccc/log?comp=appendblock", {}, "")).code).toBe("InvalidHeaderValue");
    const full = await put("/ccc/full", { "x-ms-blob-type": "AppendBlob" }, "x");
    expect(full.code).toBe("InvalidHeaderValue");
    await put("/ccc/block", { "x-ms-blob-type": "BlockBlob" }, "x");
    expect((await put("/ccc/block?comp=appendblock", {}, "x")).code).toBe("InvalidBlobType");
    expect((await put("/ccc/none?comp=appendblock", {}, "x")).code).toBe("BlobNotFound");
  });

  it("are sealed only at the expected position", async () => {
    const seal = (headers: Headers) => put("/ccc/log?comp=seal", headers);
    const refused = await seal({ "x-ms-blob-condition-appendpos": "4" });
    expect([refused.status, refused.code]).toEqual([412, "AppendPositionConditionNotMet"]);
    expect((await put("/ccc/log?comp=appendblock", {}, "6")).status).toBe(201);
    const sealed = await seal({ "x-ms-blob-condition-appendpos": "6" });
    expect([sealed.status, sealed.headers["x-ms-blob-sealed"]]).toEqual([200, "true"]);
    expect((await put("/ccc/log?comp=appendblock", {}, "7")).status).toBe(409);
  });

  it("do not change a snapshot", async () => {
    const { headers } = await put("/ccc/log?comp=snapshot");
    for (let index = 0; index < 60; index += 1) {
      await put("/ccc/log?comp=appendblock", {}, "x".repeat(300));
    }
    const path = `/ccc/log?snapshot=${headers["x-ms-snapshot"]}`;
    expect((await sim.send({ method: "GET", path })).body).toBe("12345");
    const grown = await sim.send({ method: "GET", path: "/ccc/log" });
    expect(grown.body).toBe(`12345${"x".repeat(18_000)}`);
  });
});

function notLeased(): string {
  return "LeaseNotPresentWithBlobOperation";
}

describe("page blobs", () => {
  const update = (range: string) => ({ "x-ms-page-write": "update", "x-ms-range": range });
  const page = "p".repeat(512);

  beforeEach(async () => {
    const size = { "x-ms-blob-content-length": "2048", "x-ms-blob-sequence-number": "7" };
    await put("/ccc/disk", { "x-ms-blob-type": "PageBlob", ...size });
  });

  it.each([
    [update("bytes=0-511"), page, 201, undefined],
    [update("bytes=0-510"), page, 400, "InvalidHeaderValue"],
    [update("bytes=1-512"), page, 400, "InvalidHeaderValue"],
    [update("bytes=0-1023"), page, 400, "InvalidHeaderValue"],
    [update("bytes=2048-2559"), page, 416, "InvalidPageRange"],
    [{ "x-ms-page-write": "update" }, page, 400, "MissingRequiredHeader"],
    [{ "x-ms-page-write": "clear", "x-ms-range": "bytes=0-2047" }, "", 201, undefined],
    [{ ...update("bytes=0-511"), "x-ms-if-sequence-number-le": "7" }, page, 201, undefined],
    [{ ...update("bytes=0-511"), "x-ms-if-sequence-number-lt": "7" }, page, 412, unmet()],
    [{ ...update("bytes=0-511"), "x-ms-if-sequence-number-eq": "8" }, page, 412, unmet()],
    [{ ...update("bytes=0-511"), "x-ms-if-sequence-number-eq": "-8" }, page, 400, "InvalidInput"],
    [{ ...update("bytes=0-511"), "content-md5": "nonsense" }, page, 400, "InvalidMd5"],
  ] as const)("Put Page with %o: %i", async (headers, body, status, code) => {
    const answer = await put("/ccc/disk?comp=page", headers, body);
    expect([answer.status, answer.code]).toEqual([status, code]);
    const ranges = await sim.send({ method: "GET", path: "/ccc/disk?comp=pagelist" });
    const written = status === 201 && body !== "";
    expect(ranges.body.includes("<PageRange>")).toBe(written);
  });

  function unmet(): string {
    return "SequenceNumberConditionNotMet";
  }

  it.each([
    [{ "x-ms-sequence-number-action": "max", "x-ms-blob-sequence-number": "5" }, 200, "7"],
    [{ "x-ms-sequence-number-action": "max", "x-ms-blob-sequence-number": "9" }, 200, "9"],
    [{ "x-ms-sequence-number-action": "update", "x-ms-blob-sequence-number": "5" }, 200, "5"],
    [{ "x-ms-sequence-number-action": "increment" }, 200, "8"],
    [{ "x-ms-sequence-number-action": "increment", "x-ms-blob-sequence-number": "5" }, 400, "7"],
    [{ "x-ms-sequence-number-action": "update" }, 400, "7"],
    [{ "x-ms-blob-content-length": "511" }, 400, "7"],
    [{ "x-ms-blob-content-length": "512" }, 200, "7"],
  ] as const)(
    "Set Blob Properties with %o: %i, sequence number %s",
    async (headers, status, number) => {
      expect((await put("/ccc/disk?comp=properties", headers)).status).toBe(status);
      const found = await sim.send({ method: "HEAD", path: "/ccc/disk" });
      expect(found.headers["x-ms-blob-sequence-number"]).toBe(number);
    },
  );

  it("limit the sequence number to 63 bits", async () => {
    const most = String(2n ** 63n - 1n);
    const action = { "x-ms-sequence-number-action": "update", "x-ms-blob-sequence-number": most };
    expect((await put("/ccc/disk?comp=properties", action)).status).toBe(200);
    const more = await put("/ccc/disk?comp=properties", {
      "x-ms-sequence-number-action": "increment",
    });
    expect(more.code).toBe("SequenceNumberIncrementTooLarge");
  });

  it("return a diff only against an older snapshot of the same blob", async () => {
    const { headers } = await put("/ccc/disk?comp=snapshot");
    const at = headers["x-ms-snapshot"] ?? "";
    const diff = (target: string, since: string) =>
      sim.send({ method: "GET", path: `/ccc/disk?comp=pagelist&prevsnapshot=${since}${target}` });
    await put("/ccc/disk?comp=page", update("bytes=512-1023"), page);
    expect((await diff("", at)).body).toContain("<Start>512</Start><End>1023</End>");
    const later = (await put("/ccc/disk?comp=snapshot")).headers["x-ms-snapshot"] ?? "";
    expect((await diff(`&snapshot=${at}`, later)).code).toBe("PreviousSnapshotCannotBeNewer");
    expect((await diff("", "2020-01-01T00:00:00.0000000Z")).code).toBe("PreviousSnapshotNotFound");
    const size = { "x-ms-blob-content-length": "2048" };
    await put("/ccc/disk", { "x-ms-blob-type": "PageBlob", ...size });
    expect((await diff("", at)).code).toBe("BlobOverwritten");
  });

  it("list pages that were written and cleared since, over more than 100 snapshots", async () => {
    await put("/ccc/disk?comp=page", update("bytes=0-511"), page);
    const taken = async () => (await put("/ccc/disk?comp=snapshot")).headers["x-ms-snapshot"] ?? "";
    const first = await taken();
    await put("/ccc/disk?comp=page", update("bytes=512-1023"), page);
    for (let index = 0; index < 101; index += 1) await taken();
    const clear = { "x-ms-page-write": "clear", "x-ms-range": "bytes=512-1023" };
    await put("/ccc/disk?comp=page", clear);
    await put("/ccc/disk?comp=page", update("bytes=1024-1535"), page);
    const diff = (since: string, more = "") =>
      sim.send({ method: "GET", path: `/ccc/disk?comp=pagelist&prevsnapshot=${since}${more}` });
    const cleared = "<ClearRange><Start>512</Start><End>1023</End></ClearRange>";
    const written = "<PageRange><Start>1024</Start><End>1535</End></PageRange>";
    expect((await diff(first)).body).toContain(`<PageList>${cleared}${written}</PageList>`);
    const one = await diff(first, "&maxresults=1");
    expect(one.body).toContain(`<PageList>${cleared}<NextMarker>1024</NextMarker>`);
    expect((await diff(await taken())).body).toContain("<PageList />");
  });

  it.each([
    ["ccc/disk", undefined],
    ["ccc/other", "PreviousSnapshotNotFound"],
    ["other/disk", "PreviousSnapshotNotFound"],
  ])("compare with a snapshot of %s given by its URL: %s", async (blob, code) => {
    const at = (await put("/ccc/disk?comp=snapshot")).headers["x-ms-snapshot"] ?? "";
    const url = `http://127.0.0.1/devstoreaccount1/${blob}?snapshot=${encodeURIComponent(at)}`;
    const headers = { "x-ms-previous-snapshot-url": url };
    const diff = await sim.send({ method: "GET", path: "/ccc/disk?comp=pagelist", headers });
    expect(diff.code).toBe(code);
  });
});
