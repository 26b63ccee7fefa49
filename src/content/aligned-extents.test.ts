import { constants, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { temporaryFolder } from "../../tests/harness/temporary-folder.ts";
import { acquireAligned, blockBytes, bufferBytes, releaseBuffer } from "../process/bytes.ts";
import { openDiskFiles } from "./extents/disk-files.ts";
import { Md5Thread } from "./body/md5-thread.ts";
import { whole } from "./content-ref.ts";
import { BodyLengthMismatch } from "./body/receive.ts";
import {
  expectSame,
  openContentFixture,
  pattern,
  type ContentFixture,
} from "../../tests/harness/content-fixture.ts";

const mebibyte = 1024 * 1024;
const extentBytes = 4 * mebibyte;

async function openFixture(): Promise<ContentFixture & { readonly folder: string }> {
  const folder = temporaryFolder();
  const files = await openDiskFiles(folder);
  const fixture = await openContentFixture({ files, extentBytes, md5Thread: new Md5Thread() });
  return { ...fixture, folder };
}

/** Number of aligned buffers that are not in use. */
function unusedBuffers(): number {
  const taken: Buffer[] = [];
  for (let next = acquireAligned(0); next !== undefined; next = acquireAligned(0)) taken.push(next);
  taken.forEach(releaseBuffer);
  return new Set(taken).size;
}

async function* inChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += 60_000) yield bytes.slice(from, from + 60_000);
}

async function* breakingOff(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* inChunks(bytes);
  throw new Error("the client went away");
}

describe("large bodies on a disk", () => {
  const lengths = [bufferBytes, bufferBytes + 1, mebibyte, 1_200_003, 3 * mebibyte - 1];

  test.each([true, false])("keep their bytes; length declared: %s", async (isDeclared) => {
    const fixture = await openFixture();
    const bodies = [...lengths, ...lengths].map((length, index) => pattern(length, index));
    await Promise.all(
      bodies.map(async (bytes, index) => {
        const length = isDeclared ? { length: bytes.length } : {};
        const received = await fixture.receive(inChunks(bytes), {
          ...length,
          md5: index % 2 === 0,
        });
        for (const { source } of received.pieces) {
          if ("offset" in source) expect(source.offset % blockBytes).toBe(0);
        }
        await fixture.put(`object ${index}`, () => whole(received));
        fixture.content.discard(received);
      }),
    );
    for (const [index, bytes] of bodies.entries()) {
      expectSame(await fixture.read(`object ${index}`), bytes);
    }
    await fixture.content.close();
  });

  test("are in other extents than small ones: no cached write is next to theirs", async () => {
    const fixture = await openFixture();
    const sizes = [mebibyte, 100_000, mebibyte, 100_000];
    const bodies = await Promise.all(
      sizes.map((length, index) => fixture.receive(pattern(length, index), { length })),
    );
    const extents = bodies.map(({ pieces: [piece] }) =>
      piece !== undefined && "extent" in piece.source ? piece.source.extent : undefined,
    );
    expect(extents).not.toContain(undefined);
    expect(extents[0]).toBe(extents[2]);
    expect(extents[1]).toBe(extents[3]);
    expect(extents[0]).not.toBe(extents[1]);
    await fixture.content.close();
  });

  test.runIf(process.platform === "linux")("are written past the system's cache", async () => {
    const fixture = await openFixture();
    await fixture.receive(pattern(mebibyte, 1), { length: mebibyte });
    const flags = openFilesIn(fixture.folder).filter((flag) => (flag & constants.O_DIRECT) !== 0);
    expect(flags).toHaveLength(1);
    await fixture.content.close();
  });

  test("give their buffers back, also if they fail", async () => {
    const fixture = await openFixture();
    const before = unusedBuffers();
    const bodies = Array.from({ length: 100 }, (_, index) => {
      const bytes = pattern(mebibyte, index);
      const options = { length: bytes.length, md5: index % 3 === 0 };
      return fixture.receive(index % 2 === 0 ? breakingOff(bytes) : inChunks(bytes), options);
    });
    const results = await Promise.allSettled(bodies);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(50);
    expect(unusedBuffers()).toBe(before);
    await fixture.content.close();
  });

  test.each([1_200_003, 200_000, undefined])(
    "are stored without aligned buffers: %s",
    async (length) => {
      const fixture = await openFixture();
      const taken: Buffer[] = [];
      for (let next = acquireAligned(0); next !== undefined; next = acquireAligned(0)) {
        taken.push(next);
      }
      const bytes = pattern(1_200_003, 1);
      const body = fixture.receive(inChunks(bytes), length === undefined ? {} : { length });
      const [result] = await Promise.allSettled([body]);
      taken.forEach(releaseBuffer);
      if (result.status === "rejected") {
        // A body that is longer than declared.
        expect(result.reason).toBeInstanceOf(BodyLengthMismatch);
        return;
      }
      await fixture.put("object", () => whole(result.value));
      expectSame(await fixture.read("object"), bytes);
      await fixture.content.close();
    },
  );
});

/** Flags of the files of a folder that this process has open. */
function openFilesIn(folder: string): number[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      if (!readlinkSync(join("/proc/self/fd", descriptor)).startsWith(folder)) return [];
      const info = readFileSync(join("/proc/self/fdinfo", descriptor), "utf8");
      return [Number.parseInt(/flags:\s+(\d+)/.exec(info)?.[1] ?? "0", 8)];
    } catch {
      return [];
    }
  });
}
