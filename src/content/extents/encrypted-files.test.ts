import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openContentFixture } from "../../../tests/harness/content-fixture.ts";
import { testCipher } from "../../../tests/harness/test-encryption.ts";
import { blockBytes } from "../../process/bytes.ts";
import { sealBytes } from "../../store/encryption/cipher.ts";
import { whole } from "../content-ref.ts";
import { encryptedFiles } from "./encrypted-files.ts";
import {
  ContentDamaged,
  type ExtentFile,
  type ExtentFiles,
  type ReadOptions,
} from "./extent-files.ts";
import { memoryFiles } from "./memory-files.ts";
import { groupBytes, placeOf, sealedLayout } from "./sealed-layout.ts";

const extent = 5n;
const lengths = fc.oneof(
  fc.integer({ min: 1, max: 5000 }),
  fc.constantFrom(31, 32, 33, 16_384, 65_535, 65_536, 65_537, 81_920, 131_073),
  fc.integer({ min: 60_000, max: 300_000 }),
);
const largeLengths = fc.oneof(
  fc.constantFrom(65_536, 65_537, 262_144, groupBytes, groupBytes + 1, 2 * groupBytes),
  fc.integer({ min: 1, max: 3 * groupBytes }),
);
/** The kinds of extents, with the lengths of their regions. */
const kinds = [
  ["packed", { isAligned: false, lengths, runs: 40 }],
  ["aligned", { isAligned: true, lengths: largeLengths, runs: 15 }],
] as const;

function pattern(length: number, seed: number): Uint8Array {
  return Uint8Array.from({ length }, (_, index) => (index * 31 + seed * 17 + (index >> 8)) & 0xff);
}

/** A file of regions, one after the other. */
async function writeRegions(sizes: readonly number[], isAligned = false, cachedBytesMax = 0) {
  const stored = memoryFiles({ bytesMax: 2 ** 30 });
  const files = encryptedFiles(stored, testCipher(), cachedBytesMax);
  const file = await files.create(extent, isAligned);
  const regions = sealedLayout.newRegions(16 * 1024 * 1024, isAligned);
  const written = [];
  for (const [index, length] of sizes.entries()) {
    const range = regions.allocate(length);
    if (range === undefined) throw new Error("no room");
    const bytes = pattern(length, index);
    // As bodies are written: large ones buffer by buffer.
    for (let from = 0; from < length; from += groupBytes) {
      await file.write(bytes.subarray(from, from + groupBytes), range.offset + from);
    }
    written.push({ ...range, bytes });
  }
  return { stored, files, file, regions, written };
}

async function readRange(
  file: ExtentFile,
  offset: number,
  length: number,
  options?: ReadOptions,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  await file.read(bytes, offset, options);
  return bytes;
}

const forClient = { cacheUse: "full" } as const;

/** Counts the bytes that are read from the stored files. */
function countReads(stored: ExtentFiles) {
  const counts = { bytes: 0 };
  const open = async (id: bigint): Promise<ExtentFile> => {
    const file = await stored.open(id);
    return {
      write: (bytes, position) => file.write(bytes, position),
      read(bytes, position) {
        counts.bytes += bytes.length;
        return file.read(bytes, position);
      },
      sync: () => file.sync(),
      close: () => file.close(),
    };
  };
  return { files: { ...stored, open }, counts };
}

describe("encrypted extents", () => {
  it.each(kinds)(
    "contain any ranges of any %s regions, which do not overlap and end where the layout says",
    async (_, kind) => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(kind.lengths, { minLength: 1, maxLength: 6 }),
          fc.double({ min: 0, max: 1, noNaN: true }),
          fc.double({ min: 0, max: 1, noNaN: true }),
          async (sizes, from, to) => {
            const { file, regions, written } = await writeRegions(sizes, kind.isAligned);
            let end = 0;
            for (const { offset, length, bytes } of written) {
              const start = Math.floor(from * (length - 1));
              const count = Math.max(1, Math.floor(to * (length - start)));
              expect(placeOf(offset).position).toBeGreaterThanOrEqual(end);
              end = sealedLayout.storedEnd(offset, length);
              expect(sealedLayout.storedEnd(offset + start, count)).toBeLessThanOrEqual(end);
              const read = await readRange(file, offset + start, count);
              expect(Buffer.compare(read, bytes.subarray(start, start + count))).toBe(0);
            }
            expect(end).toBeLessThanOrEqual(regions.tail);
          },
        ),
        { numRuns: kind.runs },
      );
    },
  );

  it("take at most a fifth more than their bytes, so that compaction ends", () => {
    const packed = [257, 512, 4096, 5000, 65_536, 65_537, 100_000, 4_194_305];
    const aligned = [262_144, 262_145, 1_000_000, 1_048_576, 4_194_305];
    for (const [isAligned, sizes] of [
      [false, packed],
      [true, aligned],
    ] as const) {
      for (const length of sizes) {
        const regions = sealedLayout.newRegions(16 * 1024 * 1024, isAligned);
        regions.allocate(length);
        expect(regions.tail / length, String(length)).toBeLessThan(1.4);
      }
    }
  });

  it("write a buffer of a large body and its seals as one range of whole blocks", async () => {
    const writes: (readonly [number, number])[] = [];
    const stored = memoryFiles({ bytesMax: 2 ** 30 });
    const file = await stored.create(extent);
    const create = async (): Promise<ExtentFile> => ({
      write: async (bytes, position) => void writes.push([position, bytes.length]),
      read: (bytes, position) => file.read(bytes, position),
      sync: () => file.sync(),
      close: () => file.close(),
    });
    const encrypted = await encryptedFiles({ ...stored, create }, testCipher()).create(
      extent,
      true,
    );
    const regions = sealedLayout.newRegions(16 * 1024 * 1024, true);
    const { offset = 0 } = regions.allocate(groupBytes + 100_000) ?? {};
    await encrypted.write(pattern(groupBytes, 1), offset);
    await encrypted.write(pattern(100_000, 2), offset + groupBytes);
    const pitch = blockBytes + groupBytes;
    expect(writes).toEqual([
      [0, pitch],
      [pitch, blockBytes + 2 * 65_536],
    ]);
    expect(regions.tail).toBe(pitch + blockBytes + 2 * 65_536);
  });

  it("reuse what was freed, a region or its end", async () => {
    const regions = sealedLayout.newRegions(16 * 1024 * 1024, false);
    const long = regions.allocate(200_000);
    const after = regions.allocate(100);
    if (long === undefined || after === undefined) throw new Error("no room");
    regions.free({ offset: long.offset + 100_000, length: 100_000 });
    const reused = regions.allocate(50_000);
    expect(placeOf(reused?.offset ?? 0).position).toBeLessThan(placeOf(after.offset).position);
    regions.free(after);
    expect(regions.tail).toBeLessThanOrEqual(placeOf(after.offset).position);
  });

  it("reuse the end of an aligned region that was freed", async () => {
    const regions = sealedLayout.newRegions(16 * 1024 * 1024, true);
    const long = regions.allocate(8 * groupBytes);
    if (long === undefined) throw new Error("no room");
    regions.free({ offset: long.offset + 100_000, length: 8 * groupBytes - 100_000 });
    expect(regions.tail).toBe(blockBytes + 2 * 65_536);
    regions.free({ offset: long.offset, length: 100_000 });
    expect(regions.tail).toBe(0);
  });

  it.each([
    ["packed", false, 16_384 + sealBytes],
    ["aligned, with the seals of the group", true, 65_536 + sealBytes],
  ])("read only the chunks of a range: %s", async (_, isAligned, expected) => {
    const { stored, written } = await writeRegions([300_000], isAligned);
    const { files, counts } = countReads(stored);
    const file = await encryptedFiles(files, testCipher()).open(extent);
    const [{ offset, bytes } = { offset: 0, bytes: new Uint8Array(0) }] = written;
    expect(await readRange(file, offset + 100_000, 10)).toEqual(bytes.slice(100_000, 100_010));
    expect(counts.bytes).toBe(expected);
  });

  it("reject chunks that were swapped, moved to another extent, or changed", async () => {
    const { stored, files, written } = await writeRegions([512, 512]);
    const [first, second] = written.map(({ offset }) => offset) as [number, number];
    const raw = await stored.open(extent);
    const chunkBytes = 512 + sealBytes;
    const chunks = await Promise.all(
      [first, second].map((offset) => readRange(raw, placeOf(offset).position, chunkBytes)),
    );
    await raw.write(chunks[1] as Uint8Array, placeOf(first).position);
    const file = await files.open(extent);
    const rejected = expect(readRange(file, first, 512)).rejects;
    await rejected.toThrow(ContentDamaged);
    await expect(readRange(file, first, 1)).rejects.toThrow("extent 5: encrypted content is not");
    expect(await readRange(file, second, 3)).toEqual(pattern(3, 1));
    const other = await stored.create(6n);
    await other.write(chunks[0] as Uint8Array, placeOf(first).position);
    await expect(readRange(await files.open(6n), first, 512)).rejects.toThrow(ContentDamaged);
  });
});

describe("decrypted chunks in memory", () => {
  it.each(kinds)("lead to the written bytes in any order of reads, %s", async (_, kind) => {
    const read = fc.tuple(fc.nat(5), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(70_000));
    await fc.assert(
      fc.asyncProperty(
        fc.array(kind.lengths, { minLength: 1, maxLength: 6 }),
        fc.array(read, { minLength: 5, maxLength: 60 }),
        async (sizes, reads) => {
          const { stored, written } = await writeRegions(sizes, kind.isAligned);
          // Room for a few chunks, so that reads evict those of others.
          const file = await encryptedFiles(stored, testCipher(), 200_000).open(extent);
          for (const [index, from, count] of reads) {
            const { offset, bytes } = written[index % written.length]!;
            const start = Math.floor(from * (bytes.length - 1));
            const wanted = bytes.slice(start, start + 1 + count);
            const found = await readRange(file, offset + start, wanted.length, forClient);
            expect(Buffer.compare(found, wanted)).toBe(0);
          }
        },
      ),
      { numRuns: kind.runs },
    );
  });

  it("are kept with the second read of a client, and are those of its place alone", async () => {
    const { stored, written } = await writeRegions([40_000, 40_000]);
    const { files, counts } = countReads(stored);
    const encrypted = encryptedFiles(files, testCipher(), 2 ** 20);
    const [first, second] = written as [(typeof written)[0], (typeof written)[0]];
    const storedBytes = 40_000 + sealBytes;
    for (const expected of [1, 2, 2, 2]) {
      // As after the cache of open files has closed and opened it.
      const file = await encrypted.open(extent);
      expect(await readRange(file, first.offset + 7, 10, forClient)).toEqual(
        first.bytes.slice(7, 17),
      );
      expect(counts.bytes).toBe(expected * storedBytes);
    }
    const file = await encrypted.open(extent);
    expect(await readRange(file, second.offset, 10, forClient)).toEqual(second.bytes.slice(0, 10));
    expect(counts.bytes).toBe(3 * storedBytes);
  });

  it("are not replaced by reads of more than fits", async () => {
    const sizes = Array.from({ length: 40 }, () => 40_000);
    const { stored, written } = await writeRegions(sizes);
    const { files, counts } = countReads(stored);
    const file = await encryptedFiles(files, testCipher(), 400_000).open(extent);
    const read = ({ offset }: { offset: number }) => readRange(file, offset, 10, forClient);
    for (let index = 0; index < 2; index += 1) await read(written[0]!);
    for (let round = 0; round < 3; round += 1) for (const each of written) await read(each);
    const before = counts.bytes;
    await read(written[0]!);
    expect(counts.bytes).toBe(before);
  });

  it.each(kinds)("are not those of a download by short reads, %s", async (_, { isAligned }) => {
    const { stored, written } = await writeRegions([40_000, 2_000_000], isAligned);
    const { files, counts } = countReads(stored);
    const file = await encryptedFiles(files, testCipher(), 500_000).open(extent);
    const [small, large] = written as [(typeof written)[0], (typeof written)[0]];
    const readSmall = () => readRange(file, small.offset, 10, forClient);
    for (let reads = 0; reads < 2; reads += 1) await readSmall();
    for (let at = 0; at < 2_000_000; at += 10_000) {
      const found = await readRange(file, large.offset + at, 10_000, forClient);
      expect(Buffer.compare(found, large.bytes.subarray(at, at + 10_000))).toBe(0);
    }
    const before = counts.bytes;
    await readSmall();
    expect(counts.bytes).toBe(before);
    await readRange(file, large.offset, 1_600_000, forClient);
    expect(counts.bytes - before).toBeGreaterThan(1_600_000);
  });

  it.each(kinds)("lead to the written bytes if many reads run at once, %s", async (_, kind) => {
    const sizes = [300_000, 40_000, 1_200_000, 5000, 600_000];
    const { stored, written } = await writeRegions(sizes, kind.isAligned);
    const file = await encryptedFiles(stored, testCipher(), 150_000).open(extent);
    let damaged = 0;
    const read = async (index: number): Promise<void> => {
      const { offset, bytes } = written[index % written.length]!;
      const start = (index * 7919) % bytes.length;
      const wanted = bytes.subarray(start, start + 1 + ((index * 104_729) % 100_000));
      // Each reader again and again, and all of them among others.
      for (let reads = 0; reads < 4; reads += 1) {
        const found = await readRange(file, offset + start, wanted.length, forClient);
        if (Buffer.compare(found, wanted) !== 0) damaged += 1;
      }
    };
    await Promise.all(Array.from({ length: 100 }, (__, index) => read(index)));
    expect(damaged).toBe(0);
  });

  it("hide no damage from an audit, which reads what is stored", async () => {
    const { stored, written } = await writeRegions([5000]);
    const file = await encryptedFiles(stored, testCipher(), 2 ** 20).open(extent);
    const [{ offset, bytes }] = written as [(typeof written)[0]];
    for (let index = 0; index < 2; index += 1) await readRange(file, offset, 5000, forClient);
    await (await stored.open(extent)).write(Uint8Array.of(1, 2, 3), placeOf(offset).position + 100);
    expect(await readRange(file, offset, 5000, forClient)).toEqual(bytes);
    await expect(readRange(file, offset, 5000)).rejects.toThrow(ContentDamaged);
  });

  it("are dropped if their place, of a body without a record, is written again", async () => {
    const { files, written } = await writeRegions([5000], false, 2 ** 20);
    const [{ offset }] = written as [(typeof written)[0]];
    const file = await files.open(extent);
    for (let index = 0; index < 3; index += 1) await readRange(file, offset, 5000, forClient);
    const next = pattern(5000, 9);
    await file.write(next, offset);
    expect(await readRange(file, offset, 5000, forClient)).toEqual(next);
  });
});

describe("aligned encrypted regions", () => {
  it("reject a changed chunk and a changed seal", async () => {
    const { stored, files, written } = await writeRegions([2 * groupBytes], true);
    const [{ offset } = { offset: 0 }] = written;
    const raw = await stored.open(extent);
    const file = await files.open(extent);
    const second = placeOf(offset).position + blockBytes + groupBytes;
    for (const position of [second + sealBytes + 30, second + blockBytes + 65_536 + 5]) {
      const [byte = 0] = await readRange(raw, position, 1);
      await raw.write(Uint8Array.of(byte ^ 1), position);
      const damaged = readRange(file, offset + groupBytes + 65_536, 10);
      await expect(damaged).rejects.toThrow(ContentDamaged);
      await raw.write(Uint8Array.of(byte), position);
      expect(await readRange(file, offset + groupBytes + 65_536, 10)).toHaveLength(10);
    }
  });
});

describe("content in encrypted extents", () => {
  it("is received in any sizes, compacted, shared and removed as other content is", async () => {
    const files = encryptedFiles(memoryFiles({ bytesMax: 2 ** 30 }), testCipher(), 2 ** 20);
    // Small enough that bodies are split between extents.
    const fixture = await openContentFixture({ files, extentBytes: 700_000, areFilesGiven: true });
    const sizes = [300, 5000, 70_000, 600_000, 3_000_000, 255_000];
    for (const [index, size] of sizes.entries()) {
      const declared = await fixture.receive(pattern(size, index));
      await fixture.put(`declared-${index}`, () => whole(declared));
      fixture.content.discard(declared);
      const bytes = pattern(size, index + 100);
      const streamed = await fixture.receive(pieces(bytes, 10_007));
      await fixture.put(`streamed-${index}`, () => whole(streamed));
      fixture.content.discard(streamed);
    }
    await fixture.putFrom("declared-3", "shared");
    for (const index of [0, 2, 4]) await fixture.remove(`declared-${index}`);
    for (const index of [1, 4, 5]) await fixture.remove(`streamed-${index}`);
    await fixture.remove("declared-3");
    await fixture.reclaimAll();
    const expected = { "declared-1": 1, "declared-5": 5, shared: 3 };
    for (const [name, index] of Object.entries(expected)) {
      const read = await fixture.read(name);
      expect(Buffer.compare(read, pattern(sizes[index] ?? 0, index)), name).toBe(0);
    }
    const range = await fixture.read("streamed-3", { from: 123_456, length: 98_765 });
    const wanted = pattern(600_000, 103).subarray(123_456, 123_456 + 98_765);
    expect(Buffer.compare(range, wanted)).toBe(0);
    await fixture.content.close();
  });
});

async function* pieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length);
}
