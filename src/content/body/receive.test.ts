import { describe, expect, test } from "vitest";
import { StoreUnavailable } from "../../store/store.ts";
import { md5Of, crc64Bytes, crc64Of } from "./checksums.ts";
import { BodyTooLarge } from "../content.ts";
import type { ExtentFiles } from "../extents/extent-files.ts";
import { listExtents } from "../extents/extent-table.ts";
import { Md5Thread } from "./md5-thread.ts";
import { memoryFiles } from "../extents/memory-files.ts";
import { whole, type ReceivedBody } from "../content-ref.ts";
import { BodyLengthMismatch } from "./receive.ts";
import { Syncer } from "../extents/extent-writer.ts";
import { expectSame, openContentFixture, pattern } from "../../../tests/harness/content-fixture.ts";

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  // All chunks share one buffer, as from a pooled source.
  const buffer = new Uint8Array(size);
  for (let from = 0; from < bytes.length; from += size) {
    const part = bytes.subarray(from, from + size);
    buffer.set(part);
    yield buffer.subarray(0, part.length);
    buffer.fill(0xee);
  }
}

async function* breakingOff(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* inChunks(bytes, 50_000);
  throw new Error("the client went away");
}

const sourceOf = ({ pieces }: ReceivedBody) => pieces[0]?.source;

describe("receiving a body", () => {
  test.each([
    [0, 10],
    [1, 10],
    [256, 100],
    [257, 100],
    [70_000, 16_384],
    [300_000, 65_536],
    [3_000_000, 65_536],
    [3_000_000, 1_000_000],
  ])("of %i bytes in chunks of %i keeps them, announced or not", async (length, size) => {
    const bytes = pattern(length, length);
    for (const announced of [true, false]) {
      const md5Thread = new Md5Thread();
      const fixture = await openContentFixture({ extentBytes: 1 << 20, md5Thread });
      const options = { md5: true, crc64: true, ...(announced ? { length } : {}) };
      const received = await fixture.receive(inChunks(bytes, size), options);
      expect(received.length).toBe(length);
      expect(Buffer.from(received.md5 ?? [])).toEqual(Buffer.from(md5Of(bytes)));
      expect(received.crc64).toEqual(crc64Bytes(crc64Of(bytes)));
      await fixture.put("a", () => whole(received));
      fixture.content.discard(received);
      expect(Buffer.compare(await fixture.read("a"), bytes)).toBe(0);
      expect((await fixture.get("a"))?.kind).toBe(length <= 256 ? "inline" : "slices");
      await fixture.content.close();
    }
  });

  test("keeps the bytes of an announced body together", async () => {
    const fixture = await openContentFixture({ extentBytes: 1 << 20 });
    const bodies = [1, 2, 3].map((seed) => pattern(200_000, seed));
    const all = await Promise.all(
      bodies.map((body) => fixture.receive(inChunks(body, 10_000), { length: body.length })),
    );
    for (const { pieces } of all) expect(pieces.length).toBe(1);
  });

  test("gives each piece of a body that is split between extents its checksum", async () => {
    const fixture = await openContentFixture({ extentBytes: 900_000 });
    const bytes = pattern(3_000_000, 5);
    const { pieces } = await fixture.receive(inChunks(bytes, 65_536), { crc64: true });
    expect(pieces.length).toBeGreaterThan(1);
    let at = 0;
    for (const { length, source } of pieces) {
      expect("crc64" in source && source.crc64).toBe(crc64Of(bytes.subarray(at, at + length)));
      at += length;
    }
  });

  test("stores many long bodies at once", async () => {
    const fixture = await openContentFixture({ extentBytes: 1 << 20 });
    const bodies = Array.from({ length: 120 }, (_, seed) => pattern(260_000, seed));
    const all = await Promise.all(bodies.map((body) => fixture.receive(body)));
    await Promise.all(all.map((received, index) => fixture.put(`${index}`, () => whole(received))));
    for (const [index, body] of bodies.entries()) expectSame(await fixture.read(`${index}`), body);
  });

  test("more extents than the file cache holds can be read at once", async () => {
    const fixture = await openContentFixture({ extentBytes: 1000 });
    const names = Array.from({ length: 300 }, (_, index) => `${index}`);
    for (const name of names) {
      const received = await fixture.receive(pattern(900, Number(name)));
      await fixture.put(name, () => whole(received));
      fixture.content.discard(received);
    }
    const found = await Promise.all(names.map((name) => fixture.read(name)));
    found.forEach((bytes, index) => expectSame(bytes, pattern(900, index)));
  });

  test("rejects a body that is declared or received with too many bytes", async () => {
    const fixture = await openContentFixture();
    const body = pattern(1000, 1);
    await expect(fixture.receive(body, { lengthMax: 999 })).rejects.toThrow(BodyTooLarge);
    await expect(fixture.receive(inChunks(body, 10), { lengthMax: 999 })).rejects.toThrow(
      BodyTooLarge,
    );
    await expect(fixture.receive(body, { length: 1001 })).rejects.toThrow(BodyLengthMismatch);
  });

  test("the space of a body that is cut off is reused", async () => {
    const fixture = await openContentFixture({ extentBytes: 1 << 20 });
    const body = pattern(1000, 1);
    const kept = await fixture.receive(body);
    for (const length of [600_000, undefined]) {
      const broken = fixture.receive(breakingOff(pattern(400_000, 2)), length ? { length } : {});
      await expect(broken).rejects.toThrow("went away");
    }
    const next = await fixture.receive(pattern(1000, 3));
    const other = await openContentFixture({ extentBytes: 1 << 20 });
    const [first, second] = [await other.receive(body), await other.receive(pattern(1000, 3))];
    expect(sourceOf(kept)).toEqual(sourceOf(first));
    expect(sourceOf(next)).toEqual(sourceOf(second));
  });
});

test("an extent that is being created is not treated as abandoned", async () => {
  const inner = memoryFiles({ bytesMax: 1 << 24 });
  let goOn = (): void => undefined;
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let begun = (): void => undefined;
  const beginning = new Promise<void>((resolve) => {
    begun = resolve;
  });
  const create = async (extent: bigint) => {
    begun();
    await waiting;
    return inner.create(extent);
  };
  const fixture = await openContentFixture({ files: { ...inner, create } });
  const receiving = fixture.receive(pattern(5000, 1));
  await beginning;
  await fixture.reclaimAll();
  goOn();
  const received = await receiving;
  await fixture.reclaimAll();
  await fixture.put("a", () => whole(received));
  fixture.content.discard(received);
  await fixture.reclaimAll();
  expectSame(await fixture.read("a"), pattern(5000, 1));
  const extents = await fixture.store.snapshot((view) => listExtents(view, 0n, 10));
  expect(extents).toMatchObject([{ record: { writer: "test" }, liveBytes: 5000n }]);
  expect(extents[0]?.record.sealedBytes).toBeUndefined();
});

describe("a full or failing disk", () => {
  function failingFiles(): { files: ExtentFiles; fail: Map<"write" | "sync" | "create", string> } {
    const inner = memoryFiles({ bytesMax: 1 << 24 });
    const fail = new Map<"write" | "sync" | "create", string>();
    const check = (call: "write" | "sync" | "create"): void => {
      const code = fail.get(call);
      if (code !== undefined) throw Object.assign(new Error(`${code}: ${call}`), { code });
    };
    const create = async (extent: bigint) => {
      check("create");
      const file = await inner.create(extent);
      return {
        write: async (bytes: Uint8Array, position: number) => {
          check("write");
          await file.write(bytes, position);
        },
        read: (bytes: Uint8Array, position: number) => file.read(bytes, position),
        sync: async () => check("sync"),
        close: () => file.close(),
      };
    };
    return { files: { ...inner, create }, fail };
  }

  test.each(["write", "sync", "create"] as const)("at %s rejects, and recovers", async (call) => {
    const { files, fail } = failingFiles();
    const fixture = await openContentFixture({ files, extentBytes: 1 << 20 });
    if (call !== "create") {
      const before = await fixture.receive(pattern(5000, 1));
      await fixture.put("before", () => whole(before));
      fixture.content.discard(before);
    }
    fail.set(call, "ENOSPC");
    await expect(fixture.receive(pattern(700_000, 2))).rejects.toThrow(StoreUnavailable);
    await expect(fixture.receive(pattern(9000, 2))).rejects.toThrow(StoreUnavailable);
    fail.clear();
    const after = await fixture.receive(pattern(700_000, 3));
    await fixture.put("after", () => whole(after));
    fixture.content.discard(after);
    expectSame(await fixture.read("after"), pattern(700_000, 3));
    if (call !== "create") expectSame(await fixture.read("before"), pattern(5000, 1));
    await fixture.remove("before");
    await fixture.remove("after");
    await fixture.content.close();
    await fixture.reclaimAll();
    expect(await fixture.entries()).toBe(0);
  });

  test("memory for content is bounded, and freed by deletes", async () => {
    const files = memoryFiles({ bytesMax: 1 << 20 });
    // Contents in memory are never encrypted.
    const fixture = await openContentFixture({ files, areFilesGiven: true });
    for (let round = 0; round < 3; round += 1) {
      const received = await fixture.receive(pattern(700_000, round));
      await fixture.put("a", () => whole(received));
      fixture.content.discard(received);
      await expect(fixture.receive(pattern(700_000, 9))).rejects.toThrow(StoreUnavailable);
      expectSame(await fixture.read("a"), pattern(700_000, round));
      await fixture.remove("a");
      await fixture.reclaimAll();
    }
  });
});

describe("flushes of one extent", () => {
  test("run one at a time; calls made meanwhile share the next one", async () => {
    const running: (() => void)[] = [];
    const syncer = new Syncer(() => new Promise<void>((resolve) => running.push(resolve)));
    const first = syncer.sync();
    const shared = [syncer.sync(), syncer.sync(), syncer.sync()];
    expect(running.length).toBe(1);
    running[0]?.();
    await first;
    await Promise.resolve();
    expect(running.length).toBe(2);
    running[1]?.();
    await Promise.all(shared);
    expect(running.length).toBe(2);
  });

  test("fail after an earlier failure", async () => {
    let broken = true;
    const syncer = new Syncer(async () => {
      if (broken) throw new Error("EIO");
    });
    await expect(syncer.sync()).rejects.toThrow("EIO");
    broken = false;
    await expect(syncer.sync()).rejects.toThrow("EIO");
    expect(syncer.failed).toBe(true);
  });
});
