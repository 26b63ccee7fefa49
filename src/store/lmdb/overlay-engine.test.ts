import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";

import {
  below,
  bytes,
  k,
  put,
  read,
  text,
  values,
} from "../../../tests/harness/store/store-steps.ts";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { silentLog } from "../../../tests/harness/silent-log.ts";
import type { Store } from "../store.ts";
import { LmdbEngine } from "./lmdb-engine.ts";
import { openLmdbStore } from "./open-lmdb-store.ts";
import { inForm } from "../../../tests/harness/long-form.ts";

const folder = mkdtempSync(join(tmpdir(), "overlaid-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
function newLocation(): string {
  count += 1;
  return join(folder, String(count));
}

const open = (location: string, boot = "boot-1"): Promise<Store> =>
  openLmdbStore({
    location,
    clock: manualClock(boot),
    log: silentLog,
    volatilePrefix: k("volatile"),
  });

/** Reads the durable file alone. */
function flushed(location: string) {
  const engine = new LmdbEngine({
    path: join(location, "store.mdb"),
    noSync: false,
    readOnly: true,
  });
  const view = engine.open();
  const entries = view.scan({ start: "\u0001", end: "\u00ff", reverse: false }, 100);
  view.close();
  return { sequence: view.sequence, entries, close: () => engine.close() };
}

describe("a store with volatile keys", () => {
  it("does not flush commits that change only volatile keys", async () => {
    const location = newLocation();
    const store = await open(location);
    await put(store, k("kept"), "1");
    const before = flushed(location);
    await put(store, k("volatile", 1), "1");
    const after = flushed(location);
    expect(after.sequence).toBe(before.sequence);
    await before.close();
    await after.close();
    await store.close();
  });

  it("keeps them for the next opening, but not after a boot", async () => {
    const location = newLocation();
    const first = await open(location);
    await put(first, k("volatile", 1), "1");
    await first.close();
    const second = await open(location);
    expect(await read(second, k("volatile", 1))).toBe("1");
    await second.close();
    const third = await open(location, "boot-2");
    expect(await read(third, k("volatile", 1))).toBeUndefined();
    await third.close();
  });

  it("leaves no entry of a key that was created with a flush and deleted without one", async () => {
    const location = newLocation();
    const store = await open(location);
    for (let round = 0; round < 20; round += 1) {
      await store.transact(async (tx) => {
        tx.put(k("kept"), bytes(String(round)));
        tx.put(k("volatile", round), bytes("open"));
      });
      await store.transact(async (tx) => tx.delete(k("volatile", round)));
    }
    await put(store, k("kept"), "end");
    const { entries, close } = flushed(location);
    expect(entries.map(({ value }) => text(value))).toEqual(["end"]);
    await close();
    await store.close();
  });
});

describe("a store with volatile keys whose process was killed", () => {
  it("returns durable keys with empty values, also next to volatile keys", async () => {
    const store = await open(newLocation());
    await put(store, k("a"), "");
    await put(store, k("volatile", 1), "1");
    await put(store, k("z"), "");
    const found = await store.snapshot(async (view) => {
      const all: string[] = [];
      const bounds = { start: Uint8Array.of(1), end: Uint8Array.of(0xfc) };
      for await (const entries of view.range(bounds)) {
        all.push(...entries.map(({ value }) => text(value) ?? ""));
      }
      return all;
    });
    expect(found).toEqual(["", "1", ""]);
    await store.close();
  });

  it("is reconciled when it is opened exclusively", async () => {
    const location = newLocation();
    const killed = await open(location);
    await killed.transact(async (tx) => {
      tx.put(k("kept"), bytes("1"));
      tx.put(k("volatile", 1), bytes("open"));
      tx.put(k("volatile", 2), bytes("open"));
    });
    await killed.transact(async (tx) => tx.delete(k("volatile", 1)));
    await killed.transact(async (tx) => tx.put(k("volatile", 2), bytes("locked")));
    // Before anything could be reconciled.
    await killed.close();
    const next = await open(location);
    expect(await next.snapshot((view) => values(view, below("volatile")))).toEqual(["locked"]);
    const { entries, close } = flushed(location);
    expect(entries.map(({ value }) => text(value))).toEqual(["1", "open"]);
    await close();
    await next.close();
  });
});

const steps = fc.array(
  fc.record({
    name: fc.integer({ min: 0, max: 3 }),
    puts: fc.boolean(),
    flushes: fc.boolean(),
    reopens: fc.integer({ min: 0, max: 9 }),
  }),
  { maxLength: 40 },
);

describe("volatile keys in flushed and unflushed commits", () => {
  it("always have the last value", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        const location = newLocation();
        let store = await open(location);
        const expected = new Map<number, string>();
        for (const [index, { name, puts, flushes, reopens }] of script.entries()) {
          await store.transact(async (tx) => {
            if (puts) tx.put(k("volatile", name), bytes(String(index)));
            else tx.delete(k("volatile", name));
            if (flushes) tx.put(k("kept"), bytes(String(index)));
          });
          if (puts) expected.set(name, String(index));
          else expected.delete(name);
          if (reopens === 0) {
            await store.close();
            store = await open(location);
          }
          const ordered = [...expected].toSorted(([left], [right]) => left - right);
          const wanted = ordered.map(([, value]) => value);
          expect(await store.snapshot((view) => values(view, below("volatile")))).toEqual(wanted);
          const backwards = { ...below("volatile"), reverse: true, limit: 2 };
          const last = wanted.toReversed().slice(0, 2);
          expect(await store.snapshot((view) => values(view, backwards))).toEqual(last);
          expect(await read(store, k("volatile", name))).toBe(expected.get(name));
        }
        await store.close();
      }),
      { numRuns: inForm(12, 40), seed: 7 },
    );
  });
});
