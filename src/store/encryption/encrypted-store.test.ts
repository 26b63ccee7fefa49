import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { afterAll, describe, expect, it, vi } from "vitest";
import { manualClock, type ManualClock } from "../../../tests/harness/manual-clock.ts";
import { silentLog } from "../../../tests/harness/silent-log.ts";
import { describeCounters } from "../../../tests/harness/store/counters.ts";
import type { NewStore } from "../../../tests/harness/store/harness.ts";
import { describeLogs } from "../../../tests/harness/store/logs.ts";
import { describeOrder } from "../../../tests/harness/store/order.ts";
import { k, put, read } from "../../../tests/harness/store/store-steps.ts";
import { testCipher } from "../../../tests/harness/test-encryption.ts";
import { openLmdbStore } from "../lmdb/open-lmdb-store.ts";
import { LmdbEngine } from "../lmdb/lmdb-engine.ts";
import { textOfKey } from "../../encoding/keys.ts";
import type { Key, Store } from "../store.ts";
import { Cipher } from "./cipher.ts";
import {
  addDataKey,
  changeMasterKey,
  EncryptionRefused,
  followKeyring,
  openKeyring,
  refuseEncrypted,
} from "./keyring.ts";
import { keyringKey, recordCipher } from "./record-cipher.ts";

const folder = mkdtempSync(join(tmpdir(), "encrypted-store-"));
afterAll(() => rmSync(folder, { recursive: true }));
let count = 0;
function newLocation(): string {
  count += 1;
  return join(folder, String(count));
}

const rules = { plain: new Set<number>(), logs: new Set<number>() };
const random = { bytes: (length: number) => new Uint8Array(randomBytes(length)) };
const master = random.bytes(32);

/** Values pass the same layers as those of the other stores, so that a part of the conformance
 *  suite is enough here. */
describe("the encrypted lmdb store conforms", () => {
  const newStore: NewStore = (options) => {
    const values = recordCipher(testCipher(), rules);
    const volatilePrefix = k("c").slice(0, -1);
    const place = { location: newLocation(), log: silentLog, volatilePrefix };
    return openLmdbStore({ ...options, ...place, values });
  };
  describeCounters(newStore);
  describeLogs(newStore);
  describeOrder(newStore);
});

interface Opened {
  readonly store: Store;
  readonly cipher: Cipher;
  close(): Promise<void>;
}

async function open(location: string, clock: ManualClock, key = master): Promise<Opened> {
  const cipher = new Cipher({ random });
  const values = recordCipher(cipher, rules);
  const store = await openLmdbStore({ location, clock, log: silentLog, values });
  try {
    const keys = await openKeyring({ store, random, master: key });
    const stop = await followKeyring({ store, master: key, cipher, clock, log: silentLog }, keys);
    return {
      store,
      cipher,
      async close() {
        stop();
        await store.close();
      },
    };
  } catch (error) {
    await store.close();
    throw error;
  }
}

const bytesOf = (location: string): Buffer =>
  Buffer.concat(
    readdirSync(location)
      .filter((name) => name.endsWith(".mdb"))
      .map((name) => readFileSync(join(location, name))),
  );

describe("an encrypted store", () => {
  it("has values that only its master key opens", async () => {
    const location = newLocation();
    const clock = manualClock();
    const first = await open(location, clock);
    await put(first.store, k("a"), "planted-in-a-value");
    await first.close();
    expect(bytesOf(location).includes("planted-in-a-value")).toBe(false);
    const again = await open(location, clock);
    expect(await read(again.store, k("a"))).toBe("planted-in-a-value");
    await again.close();
    await expect(open(location, clock, random.bytes(32))).rejects.toThrow("not the master key");
    const plain = await openLmdbStore({ location, clock, log: silentLog });
    await expect(refuseEncrypted(plain)).rejects.toThrow("the data is encrypted");
    await plain.close();
  });

  it("is not made of one that has plain data", async () => {
    const location = newLocation();
    const clock = manualClock();
    const plain = await openLmdbStore({ location, clock, log: silentLog });
    await put(plain, k("a"), "1");
    await refuseEncrypted(plain);
    await plain.close();
    await expect(open(location, clock)).rejects.toThrow("etagere export, etagere load");
  });

  it("rejects a value that was moved to another key, or is not encrypted", async () => {
    const location = newLocation();
    const clock = manualClock();
    const first = await open(location, clock);
    await put(first.store, k("a"), "of a");
    await put(first.store, k("b"), "of b");
    await first.close();
    await tamper(location, k("a"), k("b"));
    const again = await open(location, clock);
    expect(await read(again.store, k("a"))).toBe("of a");
    await expect(read(again.store, k("b"))).rejects.toThrow(/the record with key .* not authentic/);
    await again.close();
    await tamper(location, Buffer.from("plain"), k("b"));
    const third = await open(location, clock);
    await expect(read(third.store, k("b"))).rejects.toThrow("not encrypted as record");
    await third.close();
  });

  it("decrypts nothing that it has just written, and keeps a value that is read again", async () => {
    const location = newLocation();
    const clock = manualClock();
    const first = await open(location, clock);
    const opened = vi.spyOn(first.cipher, "open");
    await put(first.store, k("a"), "of a");
    expect(await read(first.store, k("a"))).toBe("of a");
    await put(first.store, k("a"), "later");
    expect(await read(first.store, k("a"))).toBe("later");
    expect(opened).not.toHaveBeenCalled();
    await first.close();
    const again = await open(location, clock);
    const openedAgain = vi.spyOn(again.cipher, "open");
    for (const times of [1, 2, 2, 2]) {
      expect(await read(again.store, k("a"))).toBe("later");
      expect(openedAgain).toHaveBeenCalledTimes(times);
    }
    await again.close();
  });

  it("changes its master key without another write, also while a process uses it", async () => {
    const location = newLocation();
    const clock = manualClock();
    const first = await open(location, clock);
    await put(first.store, k("a"), "1");
    const stored = await storedValue(location, k("a"));
    const next = random.bytes(32);
    await changeMasterKey({ store: first.store, master, random }, next);
    await put(first.store, k("b"), "2");
    await first.close();
    await expect(open(location, clock)).rejects.toThrow(EncryptionRefused);
    const again = await open(location, clock, next);
    expect([await read(again.store, k("a")), await read(again.store, k("b"))]).toEqual(["1", "2"]);
    await again.close();
    expect(await storedValue(location, k("a"))).toEqual(stored);
  });

  it("uses a new data key in all processes once they can know it", async () => {
    const location = newLocation();
    const clock = manualClock();
    const [one, other] = [await open(location, clock), await open(location, clock)];
    await addDataKey({ store: one.store, master, random });
    await put(one.store, k("a"), "1");
    expect(await keyIdOf(location, k("a"))).toBe(1);
    clock.advance(5_000);
    clock.advance(6_000);
    await put(one.store, k("b"), "2");
    expect(await keyIdOf(location, k("b"))).toBe(2);
    expect(await read(other.store, k("b"))).toBe("2");
    await one.close();
    await other.close();
    const again = await open(location, clock);
    expect([await read(again.store, k("a")), await read(again.store, k("b"))]).toEqual(["1", "2"]);
    await again.close();
  });
});

async function onEngine<T>(location: string, work: (engine: LmdbEngine) => Promise<T>): Promise<T> {
  const engine = new LmdbEngine({ path: join(location, "store.mdb"), noSync: false });
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

function storedValue(location: string, key: Key): Promise<Buffer> {
  return onEngine(location, async (engine) => {
    const view = engine.open();
    const found = view.get(key, textOfKey(key));
    view.close();
    return Buffer.from(found?.value ?? []);
  });
}

async function keyIdOf(location: string, key: Key): Promise<number> {
  return (await storedValue(location, key)).readUIntBE(1, 3);
}

/** Writes the stored value of another key, or these bytes, as an attacker with the disk could. */
async function tamper(location: string, from: Key, to: Key): Promise<void> {
  const found = await storedValue(location, from);
  const value = found.length === 0 ? from : found;
  await onEngine(location, (engine) =>
    engine.commit(({ sequence, ticks }) => ({
      sequence: sequence + 1,
      ticks,
      writes: [{ key: to, text: textOfKey(to), value, revision: sequence + 1 }],
    })),
  );
}

it("never encrypts its wrapped keys with themselves", () => {
  const values = recordCipher(testCipher(), rules);
  const value = Buffer.from("wrapped");
  expect(values.encode(keyringKey, textOfKey(keyringKey), value)).toBe(value);
});
