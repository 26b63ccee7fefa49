import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { ContentReader } from "../../src/content/content.ts";
import { encryptedFiles } from "../../src/content/extents/encrypted-files.ts";
import { claimFiles } from "../../src/content/open-content.ts";
import { whole } from "../../src/content/content-ref.ts";
import { openS3Files } from "../../src/content/s3/open-s3-files.ts";
import type { S3Files } from "../../src/content/s3/open-s3-files.ts";
import { partBytesMax } from "../../src/content/s3/parts.ts";
import {
  expectSame,
  openContentFixture,
  pattern,
  readAll,
  testObjects,
  type ContentFixture,
} from "../harness/content-fixture.ts";
import type { Clock } from "../../src/base/world.ts";
import { realClock } from "../../src/host/world.ts";
import { StoreUnavailable } from "../../src/store/store.ts";
import { openFakeS3, type FakeS3 } from "../harness/fake-s3.ts";
import { testCipher } from "../harness/test-encryption.ts";

/** Retry delays are short. */
const real = realClock();
const clock: Clock = { ...real, after: (milliseconds, run) => real.after(milliseconds / 50, run) };
let bucket: FakeS3;
const opened: S3Files[] = [];

beforeEach(async () => {
  bucket = await openFakeS3();
});

afterEach(async () => {
  for (const files of opened.splice(0)) files.close();
  await bucket.close();
});

async function openFiles(parameters = ""): Promise<S3Files> {
  const { location, credentials } = bucket;
  const files = await openS3Files({ location: location + parameters, credentials, clock });
  opened.push(files);
  return files;
}

async function putBody(shelf: ContentFixture, name: string, bytes: Uint8Array): Promise<void> {
  const received = await shelf.receive(bytes);
  await shelf.put(name, () => whole(received));
  shelf.content.discard(received);
}

function openReader({ store, content }: ContentFixture, name: string): Promise<ContentReader> {
  return store.snapshot(async (view) => {
    const { content: ref } = testObjects.codec.decode((await view.get(testObjects.key(name)))!);
    return content.open(view, ref!);
  });
}

const bytesStored = (): number =>
  [...bucket.objects.values()].reduce((sum, { length }) => sum + length, 0);

describe("content in a bucket", () => {
  it("is read back whole and in ranges, for any length", async () => {
    const shelf = await openContentFixture({ files: await openFiles() });
    const lengths = [300, 70_000, partBytesMax, partBytesMax + 1, 3 * partBytesMax - 7];
    for (const length of lengths) {
      const body = pattern(length, length);
      await putBody(shelf, `body-${length}`, body);
      expectSame(await shelf.read(`body-${length}`), body);
      const range = { from: Math.floor(length / 3), length: Math.floor(length / 2) };
      const part = body.subarray(range.from, range.from + range.length);
      expectSame(await shelf.read(`body-${length}`, range), part);
    }
  });

  it("is read by a node that did not write it", async () => {
    const shelf = await openContentFixture({ files: await openFiles() });
    const body = pattern(2 * partBytesMax + 99, 5);
    await putBody(shelf, "small", pattern(5000, 1));
    await putBody(shelf, "large", body);
    const other = await openContentFixture({ files: await openFiles(), store: shelf.store });
    expectSame(await other.read("large"), body);
    await putBody(shelf, "later", pattern(6000, 2));
    expectSame(await other.read("later"), pattern(6000, 2));
    expectSame(await other.read("small"), pattern(5000, 1));
  });

  it.each([
    ["plain", (files: S3Files) => files],
    ["encrypted", (files: S3Files) => encryptedFiles(files, testCipher())],
  ])("shares objects if many small bodies arrive together, %s", async (_name, wrap) => {
    const files = wrap(await openFiles());
    const shelf = await openContentFixture({ files, areFilesGiven: true });
    const count = 64;
    const names = Array.from({ length: count }, (_, index) => index);
    await Promise.all(names.map((name) => putBody(shelf, `${name}`, pattern(5000, name))));
    expect(bucket.requests.get("PUT")).toBeLessThan(count / 4);
    for (const name of names) expectSame(await shelf.read(`${name}`), pattern(5000, name));
  });

  it("is stored inline if it is small and whole", async () => {
    const shelf = await openContentFixture({ files: await openFiles() });
    for (const length of [4096, 5000, 7000, 16_384, 16_385]) {
      const before = bucket.requests.get("PUT") ?? 0;
      const received = await shelf.receive(pattern(length, 1), { inlineBytesMax: 4096 });
      await shelf.put("body", () => whole(received));
      shelf.content.discard(received);
      expectSame(await shelf.read("body"), pattern(length, 1));
      const wasUploaded = (bucket.requests.get("PUT") ?? 0) > before;
      expect(wasUploaded).toBe(length > 16_384);
    }
    await shelf.remove("body");
    await shelf.reclaimAll();
  });

  it("survives transient request errors, also after the request was executed", async () => {
    const shelf = await openContentFixture({ files: await openFiles() });
    for (const trouble of [503, "break", "lose-answer"] as const) {
      bucket.troubles.push(trouble, trouble);
      await putBody(shelf, trouble.toString(), pattern(9000, 3));
      bucket.troubles.push(trouble);
      expectSame(await shelf.read(trouble.toString()), pattern(9000, 3));
    }
  });

  it("is rejected if the bucket stays unavailable, and nothing refers to it", async () => {
    const shelf = await openContentFixture({ files: await openFiles() });
    await putBody(shelf, "before", pattern(9000, 1));
    bucket.troubles.push(...Array.from({ length: 10 }, () => 503 as const));
    await expect(putBody(shelf, "lost", pattern(9000, 2))).rejects.toThrow(StoreUnavailable);
    expect(await shelf.get("lost")).toBeUndefined();
    await putBody(shelf, "after", pattern(9000, 3));
    expectSame(await shelf.read("after"), pattern(9000, 3));
    expectSame(await shelf.read("before"), pattern(9000, 1));
  });

  it("is never placed where an interrupted body has left bytes", async () => {
    const shelf = await openContentFixture({ files: await openFiles() });
    const breakingOff = async function* (): AsyncGenerator<Uint8Array> {
      yield pattern(partBytesMax + 1000, 1);
      throw new Error("the client went away");
    };
    const length = 2 * partBytesMax;
    await expect(shelf.receive(breakingOff(), { length })).rejects.toThrow("went away");
    const other = await openContentFixture({ files: await openFiles(), store: shelf.store });
    await putBody(shelf, "next", pattern(70_000, 2));
    expectSame(await other.read("next"), pattern(70_000, 2));
    expectSame(await shelf.read("next"), pattern(70_000, 2));
  });

  it("releases its space", async () => {
    const extentBytes = 256 * 1024;
    const shelf = await openContentFixture({ files: await openFiles(), extentBytes });
    const kept: string[] = [];
    for (let index = 0; index < 40; index += 1) {
      await putBody(shelf, `${index}`, pattern(20_000, index));
      if (index % 4 === 0) kept.push(`${index}`);
    }
    const before = bytesStored();
    for (let index = 0; index < 40; index += 1) {
      if (index % 4 !== 0) await shelf.remove(`${index}`);
    }
    await shelf.reclaimAll();
    expect(bytesStored()).toBeLessThan(before / 2);
    for (const name of kept) expectSame(await shelf.read(name), pattern(20_000, Number(name)));
  });

  it("is verified against checksums and never returned wrong", async () => {
    const shelf = await openContentFixture({ files: await openFiles() });
    const body = pattern(200_000, 4);
    await putBody(shelf, "body", body);
    bucket.troubles.push("damage", "damage");
    expectSame(await shelf.read("body"), body);
    for (const [key, object] of bucket.objects) {
      bucket.objects.set(key, Buffer.from(object).fill(7, 100_000, 100_001));
    }
    const other = await openContentFixture({ files: await openFiles(), store: shelf.store });
    await expect(other.read("body")).rejects.toThrow("checksum mismatch");
    expectSame(await other.read("body", { from: 0, length: 5 }), body.subarray(0, 5));
  });

  it("is requested once while it fits the cache", async () => {
    const shelf = await openContentFixture({ files: await openFiles("&cache=1") });
    const body = pattern(900_000, 6);
    await putBody(shelf, "body", body);
    expectSame(await shelf.read("body"), body);
    const asked = bucket.requests.get("GET");
    const several = Array.from({ length: 8 }, () => shelf.read("body", { from: 7, length: 99 }));
    for (const part of await Promise.all(several)) expectSame(part, body.subarray(7, 106));
    expectSame(await shelf.read("body"), body);
    expect(bucket.requests.get("GET")).toBe(asked);
    await putBody(shelf, "other", pattern(900_000, 7));
    expectSame(await shelf.read("other"), pattern(900_000, 7));
    expectSame(await shelf.read("body"), body);
    expect(bucket.requests.get("GET")).toBeGreaterThan((asked ?? 0) + 1);
  });

  it("is read ahead for sequential readers", async () => {
    const shelf = await openContentFixture({ files: await openFiles() });
    const body = pattern(12 * 1024 * 1024, 9);
    await putBody(shelf, "body", body);
    const asked = bucket.requests.get("GET") ?? 0;
    expectSame(await shelf.read("body"), body);
    // One request per chunk without read-ahead; one per two chunks with it. Encrypted content is
    // longer.
    expect((bucket.requests.get("GET") ?? 0) - asked).toBeLessThanOrEqual(10);
  });

  it("is kept with the second read, although each one reaches it first", async () => {
    const cipher = testCipher();
    const decrypted = vi.spyOn(cipher, "openParts");
    const files = encryptedFiles(await openFiles(), cipher, 2 ** 24);
    const shelf = await openContentFixture({ files, areFilesGiven: true });
    const body = pattern(1_500_000, 9);
    await putBody(shelf, "body", body);
    const get = async (): Promise<void> => {
      const reader = await openReader(shelf, "body");
      await reader.reach?.(0, body.length);
      expectSame(await readAll(reader.read(0, body.length)), body);
      reader.close();
    };
    const chunks = Math.ceil(body.length / (16 * 1024));
    const reached = Math.ceil((1024 * 1024) / (16 * 1024));
    for (const times of [1, 2, 2]) {
      await get();
      expect(decrypted).toHaveBeenCalledTimes(times * (chunks + reached));
    }
  });

  it("is uploaded in concurrent parts", async () => {
    const shelf = await openContentFixture({ files: await openFiles() });
    const body = pattern(5 * partBytesMax + 5, 8);
    await putBody(shelf, "body", body);
    expectSame(await shelf.read("body"), body);
    expect(bucket.requests.get("PUT")).toBe(6);
  });

  it("that arrives after its extent was abandoned is removed", async () => {
    const shelf = await openContentFixture({ files: await openFiles() });
    await putBody(shelf, "kept", pattern(9000, 1));
    const kept = [...bucket.objects.keys()];
    const late = kept.map((key) => key.replace(/extents\/\w+/, "extents/0000000700000001"));
    for (const key of late) bucket.objects.set(key, Buffer.from("late"));
    await shelf.reclaimAll();
    expect([...bucket.objects.keys()]).toEqual(kept);
    expectSame(await shelf.read("kept"), pattern(9000, 1));
    for (const key of late) bucket.objects.set(key, Buffer.from("later"));
    await shelf.reclaimAll();
    expect(bucket.objects.size).toBe(kept.length + late.length);
    shelf.clock.advance(3_600_000);
    await shelf.reclaimAll();
    expect([...bucket.objects.keys()]).toEqual(kept);
  });

  it("is kept while a reader may see it, although its extent has no record", async () => {
    const extentBytes = 64 * 1024;
    const shelf = await openContentFixture({ files: await openFiles(), extentBytes });
    for (const name of ["a", "b", "c", "d"]) await putBody(shelf, name, pattern(40_000, 1));
    const reader = await openReader(shelf, "a");
    for (const name of ["a", "b", "c"]) await shelf.remove(name);
    await shelf.reclaimAll();
    expectSame(await readAll(reader.read(0, 40_000)), pattern(40_000, 1));
    reader.close();
    await shelf.reclaimAll();
    expect(bytesStored()).toBeLessThan(2 * extentBytes);
  });

  it("does not mix with objects of an earlier store under the same id", async () => {
    const lost = await openContentFixture({ files: await openFiles() });
    await putBody(lost, "lost", pattern(70_000, 1));
    const shelf = await openContentFixture({ files: await openFiles() });
    await putBody(shelf, "body", pattern(90_000, 2));
    expect(bucket.objects.size).toBe(1);
    const other = await openContentFixture({ files: await openFiles(), store: shelf.store });
    expectSame(await other.read("body"), pattern(90_000, 2));
  });

  it("is kept in a prefix of one store only", async () => {
    const [one, other] = [await openContentFixture(), await openContentFixture()];
    const files = await openFiles();
    await claimFiles(one.store, files, () => "one");
    await claimFiles(one.store, await openFiles(), () => "never asked");
    await expect(claimFiles(other.store, files, () => "other")).rejects.toThrow("another store");
    bucket.objects.set("some/where/owner", Buffer.from('{"format":2,"store":"one"}'));
    await expect(claimFiles(one.store, files, () => "one")).rejects.toThrow("has format 2");
  });

  it("continues with new credentials when the old ones expire", async () => {
    const ended = { ...bucket.credentials, secretAccessKey: "ended" };
    const renewCredentials = () => Promise.resolve(bucket.credentials);
    const { location } = bucket;
    const files = await openS3Files({ location, credentials: ended, renewCredentials, clock });
    opened.push(files);
    const shelf = await openContentFixture({ files });
    await putBody(shelf, "body", pattern(9000, 1));
    expectSame(await shelf.read("body"), pattern(9000, 1));
  });

  it("that was lost is reported missing, never invented", async () => {
    const shelf = await openContentFixture({ files: await openFiles() });
    await putBody(shelf, "body", pattern(9000, 1));
    bucket.objects.clear();
    await expect(shelf.read("body")).rejects.toThrow("is missing");
  });

  it("reports an unusable bucket at start", async () => {
    const credentials = { ...bucket.credentials, secretAccessKey: "another" };
    await expect(openS3Files({ ...bucket, credentials, clock })).rejects.toThrow("status 403");
  });
});
