import { randomBytes } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { rawClient } from "../harness/raw-client.ts";
import { freshName, testServer } from "../harness/server.ts";
import { frame, structuredForm as form } from "../harness/structured-body.ts";

const held = testServer();
const container = freshName("structured");

beforeAll(async () => {
  await held.blob.send({ method: "PUT", path: `/${container}?restype=container` });
});

function put(name: string, body: Buffer, length: number) {
  return held.blob.send({
    method: "PUT",
    path: `/${container}/${name}`,
    headers: {
      "x-ms-blob-type": "BlockBlob",
      "x-ms-structured-body": form,
      "x-ms-structured-content-length": String(length),
    },
    body,
  });
}

const get = (name: string, headers: Record<string, string> = {}) =>
  held.blob.send({ method: "GET", path: `/${container}/${name}`, headers });

describe("a structured body", () => {
  it.each([[[0]], [[1]], [[5, 7, 11]], [[100_000, 1]], [[300_000, 300_000]]])(
    "with segments %j is stored without its checksums",
    async (lengths) => {
      const segments = lengths.map((length) => randomBytes(length));
      const whole = Buffer.concat(segments);
      const answer = await put("whole", frame(segments), whole.length);
      expect(answer.status).toBe(201);
      expect(answer.headers["x-ms-structured-body"]).toBe(form);
      // `toEqual` compares 600,000 elements one by one: seconds in which no connection is served.
      expect((await get("whole")).body.equals(whole)).toBe(true);
    },
  );

  it.each(["segment", "message"] as const)(
    "is rejected if the checksum of the %s is wrong",
    async (damage) => {
      await put("kept", frame([Buffer.from("before")]), 6);
      const bytes = randomBytes(200_000);
      const answer = await put("kept", frame([bytes], damage), bytes.length);
      expect(answer).toMatchObject({ status: 400, code: "Crc64Mismatch" });
      expect((await get("kept")).body.toString()).toBe("before");
    },
  );

  it.each([
    ["cut off", (bytes: Buffer) => bytes.subarray(0, -3)],
    ["with a wrong version", (bytes: Buffer) => Buffer.concat([Buffer.of(9), bytes.subarray(1)])],
    ["with something behind it", (bytes: Buffer) => Buffer.concat([bytes, Buffer.of(0)])],
    ["empty", () => Buffer.alloc(0)],
  ])("is rejected %s", async (_what, spoil) => {
    const answer = await put("bad", spoil(frame([randomBytes(50)])), 50);
    expect(answer.status).toBe(400);
    expect((await get("bad")).status).toBe(404);
  });

  it.each([
    [50, 49],
    [50, 51],
    [100_000, 99_999],
    [100_000, 100_001],
  ])("of %i bytes is rejected if %i were declared", async (size, announced) => {
    const answer = await put("short", frame([randomBytes(size)]), announced);
    expect(answer).toMatchObject({ status: 400, code: "InvalidInput" });
    expect((await get("short")).status).toBe(404);
  });

  it.each([0, 1, 100_000, 4 * 1024 * 1024 + 5])(
    "is returned to a reader of %i bytes",
    async (size) => {
      const bytes = randomBytes(size);
      const plain = { "x-ms-blob-type": "BlockBlob" };
      await held.blob.send({
        method: "PUT",
        path: `/${container}/big`,
        headers: plain,
        body: bytes,
      });
      const answer = await get("big", { "x-ms-structured-body": form });
      expect(answer.headers["x-ms-structured-content-length"]).toBe(String(size));
      const most = 4 * 1024 * 1024;
      const segments = size <= most ? [bytes] : [bytes.subarray(0, most), bytes.subarray(most)];
      expect(answer.body.equals(frame(segments))).toBe(true);
      expect(answer.headers["content-length"]).toBe(String(answer.body.length));
    },
  );

  it.each([0, 100_000])("is returned to a reader of the Data Lake API: %i bytes", async (size) => {
    const bytes = randomBytes(size);
    await put("path", frame([bytes]), size);
    const { urls } = held.server;
    const answer = await rawClient(urls.dfs ?? "").send({
      method: "GET",
      path: `/${container}/path`,
      headers: { "x-ms-structured-body": form },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers["x-ms-resource-type"]).toBe("file");
    expect(answer.headers["x-ms-structured-body"]).toBe(form);
    expect(answer.headers["x-ms-structured-content-length"]).toBe(String(size));
    expect(answer.body.equals(frame([bytes]))).toBe(true);
  });

  it("is not announced for a range whose checksum is requested in a header", async () => {
    const bytes = randomBytes(1000);
    await put("ranged", frame([bytes]), bytes.length);
    const answer = await get("ranged", {
      "x-ms-structured-body": form,
      "x-ms-range": "bytes=10-99",
      "x-ms-range-get-content-md5": "true",
    });
    expect(answer.status).toBe(206);
    expect(answer.body.equals(bytes.subarray(10, 100))).toBe(true);
    expect(answer.headers["content-md5"]).toBeDefined();
    expect(answer.headers["x-ms-structured-body"]).toBeUndefined();
    expect(answer.headers["x-ms-structured-content-length"]).toBeUndefined();
  });
});
