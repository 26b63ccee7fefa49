import { cp, mkdtemp, rm } from "node:fs/promises";
import {
  openSync,
  readSync,
  statSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
  writeSync,
  closeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blobs } from "../../src/blob/records.ts";
import { liveKey, nodeKey } from "../../src/content/tables.ts";
import { watchedShares } from "../../src/file/notices.ts";
import { extentsIn } from "../harness/content-fixture.ts";
import { start } from "../../src/index.ts";
import { messageCount, messages, visibilityIndex } from "../../src/queue/records.ts";
import { containerTags } from "../../src/blob/indexes.ts";
import { checkFolder } from "../../src/commands/folder-check/check-folder.ts";
import { realClock } from "../../src/host/world.ts";
import { openLmdbStore } from "../../src/store/lmdb/open-lmdb-store.ts";
import { pageBytes, readMeta } from "../../src/store/lmdb/data-file.ts";
import { silentLog } from "../harness/silent-log.ts";
import type { Key, Transaction } from "../../src/store/store.ts";
import { freePorts } from "../harness/server.ts";
import { fill } from "./fill.ts";

let sound: string;

beforeAll(async () => {
  sound = await mkdtemp(join(tmpdir(), "etagere-check-"));
  const server = await start({ ...freePorts, location: sound });
  await fill(server.urls, "one");
  await server.stop();
});
afterAll(() => rm(sound, { recursive: true, force: true }));

const problemsIn = async (location: string) =>
  (await checkFolder({ location, clock: realClock(), log: silentLog })).problems;

/** A copy of the folder to be damaged. */
async function problemsAfter(damage: (location: string) => Promise<void> | void) {
  const location = await mkdtemp(join(tmpdir(), "etagere-check-"));
  try {
    await cp(sound, location, { recursive: true });
    await damage(location);
    return (await problemsIn(location)).join("\n");
  } finally {
    await rm(location, { recursive: true, force: true });
  }
}

describe("1 durable: a valid folder", () => {
  it("has no findings", async () => {
    expect(await problemsIn(sound)).toEqual([]);
  });

  it("is described", async () => {
    const report = await checkFolder({ location: sound, clock: realClock(), log: silentLog });
    expect(report.records.get("blobs")).toBe(4);
    expect(report.records.get("entities")).toBe(20);
    expect(report.records.get("messages")).toBe(20);
    expect(report.nodes).toBeGreaterThan(2);
    expect(report.bytesWithChecksum).toBeGreaterThan(500_000);
  });
});

describe("1 durable: damage to content is found", () => {
  const extentsOf = async (location: string) =>
    (await extentsIn(join(location, "extents"))).map((name) => join(location, "extents", name));
  const largest = async (location: string) =>
    (await extentsOf(location)).toSorted(
      (one, other) => statSync(other).size - statSync(one).size,
    )[0]!;

  it("a flipped bit", async () => {
    const flip = async (location: string) => {
      const file = openSync(await largest(location), "r+");
      const byte = Buffer.alloc(1);
      readSync(file, byte, 0, 1, 250_000);
      writeSync(file, Buffer.from([byte[0]! ^ 1]), 0, 1, 250_000);
      closeSync(file);
    };
    expect(await problemsAfter(flip)).toMatch(/differ from their checksum/);
  });

  it("a truncated extent", async () => {
    const cut = async (location: string) => truncateSync(await largest(location), 400_000);
    expect(await problemsAfter(cut)).toMatch(/ends at 400000, but is used up to/);
  });

  it("a missing extent", async () => {
    const lose = async (location: string) => unlinkSync(await largest(location));
    expect(await problemsAfter(lose)).toMatch(/cannot be read/);
  });

  it("an unreferenced file", async () => {
    const leave = (location: string) =>
      writeFileSync(join(location, "extents", "00000000000000ff.extent"), "left");
    expect(await problemsAfter(leave)).toMatch(/file of extent ff is left over/);
  });
});

describe("1 durable: damage to records is found", () => {
  const changing = (change: (tx: Transaction) => Promise<void>) => async (location: string) => {
    const options = { location: join(location, "store"), clock: realClock(), log: silentLog };
    const store = await openLmdbStore(options);
    await store.transact(change);
    await store.close();
  };
  const first = async (tx: Transaction, bounds: { start: Key; end: Key }): Promise<Key> => {
    for await (const [entry] of tx.range({ ...bounds, limit: 1 })) return entry!.key;
    throw new Error("there is none");
  };
  /** The first content nodes were replaced and are kept only for open readers. */
  const last = async (tx: Transaction, bounds: { start: Key; end: Key }): Promise<Key> => {
    for await (const [entry] of tx.range({ ...bounds, reverse: true, limit: 1 })) return entry!.key;
    throw new Error("there is none");
  };
  const tagged = (key: Key) => ({ start: key.subarray(0, 1), end: Uint8Array.of(key[0]!, 0xff) });

  it.each<readonly [string, (tx: Transaction) => Promise<void>, RegExp]>([
    [
      "a tree that lost a node",
      async (tx) => tx.delete(await last(tx, tagged(nodeKey(1n)))),
      /content node \d+ is missing/,
    ],
    [
      "a count of bytes in use",
      async (tx) => {
        for await (const entries of tx.range(tagged(liveKey(1n)))) {
          const live = entries.find(({ value }) => value.length === 8);
          if (live !== undefined) return tx.add(live.key, 1n);
        }
      },
      /bytes in use, but/,
    ],
    [
      "a blob that is gone without its bytes",
      async (tx) => {
        for await (const entries of tx.range(blobs.range([]))) {
          const large = entries.find(({ key }) => String(blobs.parts(key)[1]) === "large");
          if (large !== undefined) return tx.delete(large.key);
        }
      },
      /bytes in use, but|owners in its index/,
    ],
    [
      "an index entry that is missing",
      async (tx) => tx.delete(await first(tx, containerTags.range([]))),
      /an entry of table \d+ is missing/,
    ],
    [
      "a message without a visibility entry",
      async (tx) => tx.delete(await first(tx, visibilityIndex.range([]))),
      /an entry of table \d+ is missing/,
    ],
    [
      "a count of messages",
      async (tx) => {
        const key = await first(tx, messages.range([]));
        tx.add(messageCount.key(messages.parts(key)[0] as bigint), 1n);
      },
      /messages of queue \d+: counter is 21, expected 20/,
    ],
    [
      "a blob in no container",
      async (tx) => {
        const key = await first(tx, blobs.range([]));
        tx.put(blobs.key({ container: 7n, name: "lost" }), (await tx.get(key))!);
      },
      /blobs 7 \/ lost belongs to 7, which does not exist/,
    ],
    [
      "watchers of no share",
      async (tx) => {
        const value = watchedShares.codec.encode({ owners: [] });
        tx.put(watchedShares.key({ share: 8n }), value);
      },
      /watched-shares 8 belongs to 8, which does not exist/,
    ],
    [
      "a record of no known form",
      async (tx) => tx.put(await first(tx, blobs.range([])), Uint8Array.of(1, 0x82, 0xa9)),
      /cannot be read/,
    ],
    [
      "a key of no known kind",
      async (tx) => tx.put(Uint8Array.of(0xf0, 1), Uint8Array.of(1)),
      /unknown kind: f001/,
    ],
  ])("%s", async (_what, change, said) => {
    expect(await problemsAfter(changing(change))).toMatch(said);
  });
});

describe("1 durable: a folder that an interrupted restore has left", () => {
  const store = (location: string): string => join(location, "store", "store.mdb");
  const usedBytes = (location: string): number => {
    const descriptor = openSync(store(location), "r");
    const { nextPage } = readMeta(descriptor);
    closeSync(descriptor);
    return nextPage * pageBytes;
  };

  it.each([0, 1, 4096, 8192, 40_000, "one page less"] as const)(
    "is refused if the records are truncated to %s bytes",
    async (bytes) => {
      const problems = problemsAfter(async (location) => {
        const cut = bytes === "one page less" ? usedBytes(location) - pageBytes : bytes;
        truncateSync(store(location), cut);
        await expect(start({ ...freePorts, location })).rejects.toThrow("is truncated");
      });
      await expect(problems).rejects.toThrow("is truncated; restore it from a backup");
    },
  );

  it("is accepted if only pages are missing that no record uses", async () => {
    const problems = await problemsAfter(async (location) => {
      truncateSync(store(location), usedBytes(location));
      await (await start({ ...freePorts, location })).stop();
    });
    expect(problems).toBe("");
  });

  it("is refused without its records", async () => {
    const problems = problemsAfter(async (location) => {
      await rm(join(location, "store"), { recursive: true });
      await expect(start({ ...freePorts, location })).rejects.toThrow("without their records");
    });
    await expect(problems).rejects.toThrow("not a data folder");
  });
});
