import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import { BlobServiceClient } from "@azure/storage-blob";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { containers, blobs } from "../../src/blob/records.ts";
import { pattern } from "../harness/content-fixture.ts";
import { ArchiveRefused, start, type EtagereServer } from "../../src/index.ts";
import { FrameWriter } from "../../src/commands/archive/archive-format.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();
const path = join(folder, "good.etagere");
let good: Buffer;
let server: EtagereServer;

beforeAll(async () => {
  server = await start({ port: 0, noSmb: true, inMemoryPersistence: true });
  const service = BlobServiceClient.fromConnectionString(server.connectionString);
  const container = service.getContainerClient("archived");
  await container.create();
  await container.getBlockBlobClient("small").upload("small", 5);
  const large = Buffer.from(pattern(300_000, 1));
  await container.getBlockBlobClient("large").upload(large, large.length);
  await server.export(path);
  good = await readFile(path);
  await server.reset();
});
afterAll(() => server.stop());

async function containerCount(): Promise<number> {
  const service = BlobServiceClient.fromConnectionString(server.connectionString);
  const names: string[] = [];
  for await (const { name } of service.listContainers()) names.push(name);
  return names.length;
}

/** Why the bytes are refused; nothing must have changed. */
async function refusalOf(bytes: Uint8Array): Promise<string> {
  const bad = join(folder, `${createHash("md5").update(bytes).digest("hex")}.etagere`);
  await writeFile(bad, bytes);
  try {
    await server.load(bad);
  } catch (error) {
    expect(error).toBeInstanceOf(ArchiveRefused);
    expect(await containerCount()).toBe(0);
    return (error as Error).message;
  }
  throw new Error("a bad archive was loaded");
}

function withFrame(bytes: Buffer, change: (frame: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  const frame = copy.subarray("etagere archive 1\n".length);
  change(frame);
  frame.writeUInt32BE(
    crc32(frame.subarray(20, 20 + frame.readUInt32BE(8)), crc32(frame.subarray(0, 16))),
    16,
  );
  return copy;
}

/** An archive with valid checksums that another program could have made. */
async function forged(
  write: (writer: FrameWriter) => Promise<void>,
  accountId = 5n,
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const writer = new FrameWriter((bytes) => void chunks.push(bytes));
  await writer.begin();
  await writer.write("start", { release: "1", createdAt: "", accounts: ["devstoreaccount1"] });
  const account = { name: "devstoreaccount1", id: accountId, hierarchicalNamespace: false };
  await writer.write("account", { ...account, properties: {} });
  await write(writer);
  await writer.write("end", { records: 1, contentBytes: 0 });
  await writer.finish();
  return Buffer.concat(chunks);
}

function frameOf(table: string, key: Uint8Array, value: Uint8Array) {
  return { table, lengths: [key.length, value.length], bytes: Buffer.concat([key, value]) };
}

describe("a load of", () => {
  it("an archive that ends early anywhere is refused", async () => {
    for (const length of [0, 5, 17, 18, 30, 38, 60, good.length >> 1, good.length - 1]) {
      const message = await refusalOf(good.subarray(0, length));
      expect(message).toMatch(
        length < 18 ? /not an archive/ : /the archive is incomplete: it ends/,
      );
    }
  });

  it("an archive with a flipped bit anywhere is refused", async () => {
    for (let step = 0; step < 60; step += 1) {
      const at = Math.floor((good.length * step) / 60);
      const bad = Buffer.from(good);
      bad[at] = (bad[at] ?? 0) ^ (1 << (step % 8));
      expect(await refusalOf(bad)).toMatch(/damaged|not an archive|incomplete|newer format/);
    }
  });

  it("something else, a newer format or data after the end is refused", async () => {
    expect(await refusalOf(Buffer.from("PK\u0003\u0004 some zip file of a user"))).toBe(
      "not an archive of etagere export",
    );
    const newer = Buffer.concat([Buffer.from("etagere archive 2\n"), good.subarray(18)]);
    expect(await refusalOf(newer)).toMatch(/newer format than 1/);
    expect(await refusalOf(Buffer.concat([good, good]))).toMatch(/data after its end/);
  });

  it("giant lengths, missing and unknown parts is refused", async () => {
    const giant = withFrame(good, (frame) => frame.writeUInt32BE(0xffff_ffff, 12));
    expect(await refusalOf(giant)).toMatch(/a length is beyond the limit/);
    const bomb = withFrame(good, (frame) => frame.writeUInt32BE(1, 12));
    expect(await refusalOf(bomb)).toMatch(/damaged/);
    expect(await refusalOf(withFrame(good, (frame) => frame.writeUInt32BE(3, 4)))).toMatch(
      /missing/,
    );
    expect(await refusalOf(withFrame(good, (frame) => frame.writeUInt8(99, 0)))).toMatch(
      /not know/,
    );
  });

  it("records that refer to bytes of the target is refused", async () => {
    const slices = [{ at: 0, length: 10, source: { extent: 1n, offset: 0 } }];
    const blob = {
      etag: 1n,
      created: 1n,
      type: "BlockBlob" as const,
      content: { kind: "slices" as const, length: 10, slices },
      headers: {},
      metadata: [] as never,
    };
    const key = blobs.key({ container: 7n, name: "stolen" });
    const value = blobs.codec.encode(blob);
    const bytes = await forged((writer) => writer.write("records", frameOf("blobs", key, value)));
    expect(await refusalOf(bytes)).toBe("the archive has an invalid record (blobs)");
  });

  it("unknown tables, wrong keys and newer records is refused", async () => {
    const key = containers.key({ account: 5n, name: "c" });
    const value = containers.codec.encode({
      id: 7n,
      etag: 1n,
      metadata: [] as never,
      policies: [],
    });
    const cases = [
      ["accounts", key, value, /unknown here: accounts/],
      ["blobs", key, value, /invalid record/],
      ["containers", Uint8Array.of(0x20, 0x99), value, /invalid record/],
      ["containers", key, Uint8Array.of(200, 1), /newer release/],
      ["containers", key, Uint8Array.of(1, 0xc1), /invalid record/],
    ] as const;
    for (const [table, badKey, badValue, message] of cases) {
      const frame = frameOf(table, badKey, badValue);
      const bytes = await forged((writer) => writer.write("records", frame));
      expect(await refusalOf(bytes)).toMatch(message);
    }
  });

  it("ids, times and texts that no export writes is refused", async () => {
    const container = { id: 7n, etag: 1n, metadata: [] as unknown, policies: [] };
    const cases = [
      { container, accountId: -1n },
      { container, accountId: -(2n ** 40n) },
      { container: { ...container, id: -1n } },
      { container: { ...container, etag: -1n } },
      { container: { ...container, etag: "now" } },
      { container: { ...container, metadata: [["a", "b\r\nc"]] } },
      { container: { ...container, metadata: [["a"]] } },
      { container: { ...container, metadata: { a: 1 } } },
    ];
    const key = containers.key({ account: 5n, name: "c" });
    for (const { container: bad, accountId } of cases) {
      const frame = frameOf("containers", key, containers.codec.encode(bad as never));
      const bytes = await forged((writer) => writer.write("records", frame), accountId);
      expect(await refusalOf(bytes)).toMatch(/invalid record|is not an id/);
    }
  });

  it("figures that differ from the contents is refused", async () => {
    expect(await refusalOf(await forged(() => Promise.resolve()))).toMatch(/figures differ/);
  });

  it("the archive itself succeeds afterwards", async () => {
    await server.load(path);
    expect(await containerCount()).toBe(1);
  });
});
