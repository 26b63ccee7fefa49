import { beforeEach, describe, expect, it } from "vitest";
import { simBlob, type SimBlob } from "../harness/sim-blob.ts";
import type { SimResponse } from "../harness/sim-service.ts";

const base = "http://127.0.0.1/devstoreaccount1/ccc";
const block = { "x-ms-blob-type": "BlockBlob" };
const unknownETag = '"0x8D0000000000000"';
type Headers = Readonly<Record<string, string>>;

let sim: SimBlob;
let etag = "";

const put = (path: string, headers: Headers = {}, body?: string): Promise<SimResponse> =>
  sim.send({ method: "PUT", path, headers, ...(body === undefined ? {} : { body }) });

/** One request of each kind that reads its bytes from `source` and writes `target`. */
const kinds = {
  "Copy Blob": (more: Headers) =>
    put("/ccc/target", { "x-ms-copy-source": `${base}/source`, ...more }),
  "Copy Blob From URL": (more: Headers) =>
    put("/ccc/target", {
      "x-ms-copy-source": `${base}/source`,
      "x-ms-requires-sync": "true",
      ...more,
    }),
  "Put Blob From URL": (more: Headers) =>
    put("/ccc/target", { ...block, "x-ms-copy-source": `${base}/source`, ...more }),
  "Put Block From URL": (more: Headers) =>
    put("/ccc/target?comp=block&blockid=MQ%3D%3D", {
      "x-ms-copy-source": `${base}/source`,
      ...more,
    }),
} as const;

beforeEach(async () => {
  sim = await simBlob();
  await put("/ccc?restype=container", { "x-ms-blob-public-access": "blob" });
  const source = await put("/ccc/source", { ...block, "x-ms-meta-Colour": "blue" }, "source");
  etag = source.headers["etag"] ?? "";
  await put("/ccc/target", { ...block, "x-ms-meta-own": "yes" }, "target");
});

async function content(): Promise<string> {
  return (await sim.send({ method: "GET", path: "/ccc/target" })).body;
}

describe.each([
  [
    "Copy Blob",
    412,
    "SourceConditionNotMet",
    412,
    "SourceConditionNotMet",
    "TargetConditionNotMet",
  ],
  ["Copy Blob From URL", 412, "CannotVerifyCopySource", 304, "CannotVerifyCopySource", plain()],
  ["Put Blob From URL", 412, "CannotVerifyCopySource", 304, "CannotVerifyCopySource", plain()],
  ["Put Block From URL", 412, "CannotVerifyCopySource", 304, "CannotVerifyCopySource", undefined],
] as const)("%s", (kind, matchStatus, matchCode, noneStatus, noneCode, targetCode) => {
  it("fails and changes nothing if a source condition is not met", async () => {
    const stale = await kinds[kind]({ "x-ms-source-if-match": unknownETag });
    expect([stale.status, stale.code]).toEqual([matchStatus, matchCode]);
    const known = await kinds[kind]({ "x-ms-source-if-none-match": etag });
    expect([known.status, known.code]).toEqual([noneStatus, noneCode]);
    expect(await content()).toBe("target");
    const met = await kinds[kind]({ "x-ms-source-if-match": etag });
    expect(met.status).toBeLessThan(300);
  });

  it("fails and changes nothing if the tags of the source do not match", async () => {
    const tags = { "x-ms-tags": "stage=new" };
    await put("/ccc/source", { ...block, ...tags }, "source");
    const other = await kinds[kind]({ "x-ms-source-if-tags": "\"stage\" = 'old'" });
    const code = kind === "Copy Blob" ? "ConditionNotMet" : matchCode;
    expect([other.status, other.code]).toEqual([412, code]);
    expect(await content()).toBe("target");
    const met = await kinds[kind]({ "x-ms-source-if-tags": "\"stage\" = 'new'" });
    expect(met.status).toBeLessThan(300);
  });

  it("checks the conditions and the lease of the target", async () => {
    if (targetCode !== undefined) {
      const stale = await kinds[kind]({ "if-match": unknownETag });
      expect([stale.status, stale.code]).toEqual([412, targetCode]);
      const taken = await kinds[kind]({ "if-none-match": "*" });
      expect([taken.status, taken.code]).toEqual([409, "BlobAlreadyExists"]);
    }
    const lease = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "15" };
    const { headers } = await put("/ccc/target?comp=lease", lease);
    expect((await kinds[kind]({})).code).toBe("LeaseIdMissing");
    expect(await content()).toBe("target");
    const held = await kinds[kind]({ "x-ms-lease-id": headers["x-ms-lease-id"] ?? "" });
    expect(held.status).toBeLessThan(300);
  });

  it.each(["not a url", "ftp://example.com/x", "", "http://"])("rejects %s", async (source) => {
    const answer = await kinds[kind]({ "x-ms-copy-source": source });
    expect(answer.status).toBe(400);
    expect(await content()).toBe("target");
  });
});

describe("the error of a source", () => {
  const missing = { "x-ms-copy-source": `${base}/missing` };
  const parts = (answer: SimResponse) => [
    answer.headers["x-ms-copy-source-status-code"],
    answer.headers["x-ms-copy-source-error-code"],
    /<CopySourceStatusCode>.*<\/CopySourceErrorMessage>/s.exec(answer.body)?.[0],
  ];

  it.each(["Copy Blob From URL", "Put Blob From URL", "Put Block From URL"] as const)(
    "is returned by %s from 2024-02-04 on",
    async (kind) => {
      const answer = await kinds[kind]({ ...missing, "x-ms-version": "2024-02-04" });
      expect([answer.status, answer.code]).toEqual([404, "CannotVerifyCopySource"]);
      const elements =
        "<CopySourceStatusCode>404</CopySourceStatusCode>" +
        "<CopySourceErrorCode>BlobNotFound</CopySourceErrorCode>" +
        "<CopySourceErrorMessage>The specified blob does not exist.</CopySourceErrorMessage>";
      expect(parts(answer)).toEqual(["404", "BlobNotFound", elements]);
      const older = await kinds[kind]({ ...missing, "x-ms-version": "2023-11-03" });
      expect(older.status).toBe(404);
      expect(parts(older)).toEqual([undefined, undefined, undefined]);
    },
  );
});

function plain(): string {
  return "ConditionNotMet";
}

describe("the result of a copy", () => {
  it("has the source's metadata unless the request sets its own", async () => {
    await kinds["Copy Blob"]({});
    const copied = await sim.send({ method: "HEAD", path: "/ccc/target" });
    expect(copied.headers).toMatchObject({
      "x-ms-meta-colour": "blue",
      "x-ms-copy-status": "success",
      "x-ms-copy-progress": "6/6",
      "x-ms-copy-source": `${base}/source`,
    });
    expect(copied.headers["x-ms-meta-own"]).toBeUndefined();
    await kinds["Copy Blob"]({ "x-ms-meta-mine": "1" });
    const replaced = await sim.send({ method: "HEAD", path: "/ccc/target" });
    expect(replaced.headers["x-ms-meta-colour"]).toBeUndefined();
    await put("/ccc/target", block, "over");
    const over = await sim.send({ method: "HEAD", path: "/ccc/target" });
    expect(over.headers["x-ms-copy-id"]).toBeUndefined();
  });

  it("shares bytes with the source but does not follow its changes", async () => {
    await put("/ccc/source", block, "s".repeat(20_000));
    await kinds["Copy Blob"]({});
    await sim.send({ method: "DELETE", path: "/ccc/source" });
    await sim.reclaim();
    expect(await content()).toBe("s".repeat(20_000));
  });

  it("keeps a sealed append blob sealed, and a blob of another type is not replaced", async () => {
    await put("/ccc/log", { "x-ms-blob-type": "AppendBlob" });
    await put("/ccc/log?comp=appendblock", {}, "line");
    await put("/ccc/log?comp=seal");
    const from = { "x-ms-copy-source": `${base}/log` };
    expect((await put("/ccc/target", from)).code).toBe("InvalidBlobType");
    await put("/ccc/log2", from);
    const found = await sim.send({ method: "HEAD", path: "/ccc/log2" });
    expect(found.headers["x-ms-blob-sealed"]).toBe("true");
    expect((await put("/ccc/log2?comp=appendblock", {}, "x")).code).toBe("BlobIsSealed");
  });

  it("of a missing source is the error code that was recorded for the operation", async () => {
    const gone = { "x-ms-copy-source": `${base}/gone` };
    const copy = await kinds["Copy Blob"](gone);
    expect([copy.status, copy.code]).toEqual([404, "BlobNotFound"]);
    for (const kind of ["Copy Blob From URL", "Put Blob From URL", "Put Block From URL"] as const) {
      const answer = await kinds[kind](gone);
      expect([answer.status, answer.code]).toEqual([404, "CannotVerifyCopySource"]);
    }
  });
});

describe("incremental copies", () => {
  const page = { "x-ms-page-write": "update", "x-ms-range": "bytes=0-511" };

  async function snapshot(byte: string): Promise<string> {
    await put("/ccc/disk?comp=page", page, byte.repeat(512));
    return (await put("/ccc/disk?comp=snapshot")).headers["x-ms-snapshot"] ?? "";
  }

  const copy = (source: string) =>
    put("/ccc/backup?comp=incrementalcopy", { "x-ms-copy-source": `${base}/${source}` });

  it("accept only newer snapshots of the same blob and keep a snapshot of each", async () => {
    const size = { "x-ms-blob-content-length": "1024" };
    await put("/ccc/disk", { "x-ms-blob-type": "PageBlob", ...size });
    const first = await snapshot("1");
    const second = await snapshot("2");
    expect((await copy("disk")).code).toBe("IncrementalCopySourceMustBeSnapshot");
    expect((await copy(`disk?snapshot=${first}`)).status).toBe(202);
    const done = await sim.send({ method: "HEAD", path: "/ccc/backup" });
    const kept = done.headers["x-ms-copy-destination-snapshot"] ?? "";
    expect((await copy(`disk?snapshot=${second}`)).status).toBe(202);
    const back = await copy(`disk?snapshot=${first}`);
    expect(back.code).toBe("IncrementalCopyOfEarlierSnapshotNotAllowed");
    const whole = await sim.send({ method: "GET", path: "/ccc/backup" });
    expect(whole.code).toBe("OperationNotAllowedOnIncrementalCopyBlob");
    const old = await sim.send({ method: "GET", path: `/ccc/backup?snapshot=${kept}` });
    expect(old.body.slice(0, 512)).toBe("1".repeat(512));
  });
});
