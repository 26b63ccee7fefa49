import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import type { ExtentFiles } from "../../src/content/extents/extent-files.ts";
import { start } from "../../src/index.ts";
import { copyData } from "../../src/commands/copy-data.ts";
import { noProgress } from "../../src/commands/progress.ts";
import { openDataLocation, type DataLocation } from "../../src/data/data-locations.ts";
import { realEnvironment } from "../../src/host/world.ts";
import { silentLog } from "../harness/silent-log.ts";
import { openFakeS3, type FakeS3 } from "../harness/fake-s3.ts";
import { changeAll, contentsOf, fill, fillAgain } from "./shelf-contents.ts";

const folder = temporaryFolder();
const source: DataLocation = { records: join(folder, "source"), bytes: undefined };
const world = realEnvironment(silentLog);
let bucket: FakeS3;
let original: Readonly<Record<string, unknown>>;

const served = ({ records, bytes }: DataLocation) =>
  start({ port: 0, noSmb: true, location: records, ...(bytes && { content: bytes }) });

beforeAll(async () => {
  bucket = await openFakeS3();
  vi.stubEnv("AWS_ACCESS_KEY_ID", bucket.credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", bucket.credentials.secretAccessKey);
  const server = await served(source);
  await fill(server.connectionString);
  original = await contentsOf(server.connectionString);
  await server.stop();
});

afterAll(async () => {
  await bucket.close();
  vi.unstubAllEnvs();
});

type Wrap = (files: ExtentFiles) => ExtentFiles;

async function copy(from: DataLocation, to: DataLocation, wrap: Wrap = (files) => files) {
  const [one, other] = [await openDataLocation(from, world), await openDataLocation(to, world)];
  try {
    const target = { ...other, files: wrap(other.files) };
    const fromName = from.records;
    return await copyData({ from: one, to: target, fromName, ...world, progress: noProgress });
  } finally {
    await one.close();
    await other.close();
  }
}

async function expectCopy(place: DataLocation): Promise<void> {
  const server = await served(place);
  expect(await contentsOf(server.connectionString)).toEqual(original);
  await changeAll(server.connectionString);
  await server.stop();
}

describe("a copy", () => {
  it("to a bucket and back contains everything", async () => {
    const inBucket = { records: join(folder, "one"), bytes: bucket.location };
    const { records, bytes } = await copy(source, inBucket);
    expect(records).toBeGreaterThan(50);
    expect(bytes).toBeGreaterThan(9_000_000);
    const back = { records: join(folder, "two"), bytes: undefined };
    await copy(inBucket, back);
    await expectCopy(inBucket);
    await expectCopy(back);
  });

  it("that was interrupted is not served, can be resumed, and is then complete", async () => {
    const bytes = bucket.location.replace("some/where", "other/place");
    const target = { records: join(folder, "three"), bytes };
    let uploaded = 0;
    const breaking: Wrap = (files) => ({
      ...files,
      async create(extent) {
        uploaded += 1;
        const file = await files.create(extent);
        const write = () => Promise.reject(new Error("the plug was pulled"));
        return uploaded > 1 ? { ...file, write } : file;
      },
    });
    const restarted = await served(source);
    await fillAgain(restarted.connectionString);
    original = await contentsOf(restarted.connectionString);
    await restarted.stop();
    await expect(copy(source, target, breaking)).rejects.toThrow("the plug was pulled");
    await expect(served(target)).rejects.toThrow("is incomplete");
    const another = { records: join(folder, "two"), bytes: undefined };
    await expect(copy(another, target)).rejects.toThrow("is incomplete");
    uploaded = 0;
    const counting: Wrap = (files) => ({
      ...files,
      create(extent) {
        uploaded += 1;
        return files.create(extent);
      },
    });
    const { extents } = await copy(source, target, counting);
    expect(uploaded).toBe(extents - 1);
    await expectCopy(target);
  });

  it("into a store with data is rejected", async () => {
    const place = { records: join(folder, "two"), bytes: undefined };
    await expect(copy(source, place)).rejects.toThrow("the target is not empty");
  });

  it("detects a changed byte", async () => {
    const place = { records: join(folder, "four"), bytes: undefined };
    const damaging: Wrap = (files) => ({
      ...files,
      async create(extent) {
        const file = await files.create(extent);
        const write = (bytes: Uint8Array, position: number) => {
          if (bytes.length > 1000) bytes[999] = (bytes[999] ?? 0) ^ 1;
          return file.write(bytes, position);
        };
        return { ...file, write };
      },
    });
    await expect(copy(source, place, damaging)).rejects.toThrow("differs from its source");
    await expect(served(place)).rejects.toThrow("is incomplete");
  });
});
