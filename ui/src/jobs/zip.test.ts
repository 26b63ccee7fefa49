import assert from "node:assert";
import { crc32 as nodeCrc32 } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crc32 } from "./crc32.ts";
import { ZipFile, type ZipEntry } from "./zip.ts";

const modifiedAt = new Date(2026, 10, 16, 5, 30, 20);

function entryOf(name: string, text: string): ZipEntry {
  const bytes = new TextEncoder().encode(text);
  const byteCount = bytes.byteLength;
  return { name, modifiedAt, checksum: crc32(bytes), byteCount, parts: [bytes] };
}

/** Reads a zip file by its central directory, as unpacking programs do. */
async function unpack(file: Blob): Promise<Map<string, string>> {
  const bytes = Buffer.from(await file.arrayBuffer());
  const end = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 5, 6]));
  let count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  if (count === 0xffff) {
    const end64 = Number(bytes.readBigUInt64LE(end - 20 + 8));
    assert.equal(bytes.readUInt32LE(end64), 0x06064b50);
    count = Number(bytes.readBigUInt64LE(end64 + 32));
    at = Number(bytes.readBigUInt64LE(end64 + 48));
  }
  const found = new Map<string, string>();
  for (let index = 0; index < count; index += 1) {
    assert.equal(bytes.readUInt32LE(at), 0x02014b50);
    const [checksum, length] = [bytes.readUInt32LE(at + 16), bytes.readUInt32LE(at + 24)];
    const nameLength = bytes.readUInt16LE(at + 28);
    const name = bytes.subarray(at + 46, at + 46 + nameLength).toString();
    const local = bytes.readUInt32LE(at + 42);
    assert.equal(bytes.readUInt32LE(local), 0x04034b50);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const content = bytes.subarray(start, start + length);
    assert.equal(nodeCrc32(content), checksum);
    found.set(name, content.toString());
    at += 46 + nameLength + bytes.readUInt16LE(at + 30);
  }
  return found;
}

describe("a zip file", () => {
  it("has the names and contents that were added", async () => {
    const files = fc.dictionary(fc.string({ minLength: 1, unit: "grapheme" }), fc.string());
    await fc.assert(
      fc.asyncProperty(files, async (contents) => {
        const zip = new ZipFile();
        for (const [name, text] of Object.entries(contents)) zip.add(entryOf(name, text));
        expect(await unpack(zip.finish())).toEqual(new Map(Object.entries(contents)));
      }),
      { numRuns: 50 },
    );
  });

  it("has the 64-bit end record with more than 65,534 entries", async () => {
    const zip = new ZipFile();
    for (let index = 0; index < 65_536; index += 1)
      zip.add({ ...entryOf(`${index}`, ""), parts: [] });
    expect((await unpack(zip.finish())).size).toBe(65_536);
  });

  it("has 64-bit lengths for a content beyond 4 GiB", async () => {
    const zip = new ZipFile();
    const byteCount = 5 * 1024 ** 3;
    // The content itself is left out: only the headers are of interest.
    zip.add({ ...entryOf("large.bin", ""), byteCount });
    zip.add(entryOf("after.txt", "x"));
    const bytes = Buffer.from(await zip.finish().arrayBuffer());
    expect(bytes.readUInt32LE(18)).toBe(0xffffffff);
    expect(Number(bytes.readBigUInt64LE(30 + "large.bin".length + 4))).toBe(byteCount);
    const central = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 1, 2]));
    const extra = central + 46 + "after.txt".length;
    expect(Number(bytes.readBigUInt64LE(extra + 4))).toBe(byteCount + 30 + 9 + 20);
  });
});
