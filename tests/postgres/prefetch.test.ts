import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { realClock } from "../../src/host/world.ts";
import type { VersionedEntry } from "../../src/store/engine.ts";
import { below, increment, k, put, text, values } from "../harness/store/store-steps.ts";
import { keyOfText } from "../../src/encoding/keys.ts";
import { PrefetchedState } from "../../src/store/postgres/prefetched-state.ts";
import { ReadCache } from "../../src/store/postgres/read-plans.ts";
import { openPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import type { PostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { silentLog } from "../harness/silent-log.ts";
import { openDatabase, type Database } from "./database.ts";

let database: Database;
let nodes = 0;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(() => database.stop());

function open(url: string): Promise<PostgresStore> {
  nodes += 1;
  const node = `foreseer-${nodes}`;
  return openPostgresStore({ url, node, clock: realClock(), log: silentLog });
}

/** The value of `place` names the next key to read, as a container leads to a blob. */
async function follow(view: { get(key: Uint8Array): unknown }): Promise<string | undefined> {
  const name = text((await view.get(k("place"))) as Uint8Array | undefined);
  if (name === undefined) return undefined;
  return text((await view.get(k("thing", name))) as Uint8Array | undefined);
}

describe("prefetched work", () => {
  it("returns the same as without prefetch for any prediction", async () => {
    const store = await open(database.newUrl());
    await put(store, k("place"), "one");
    await put(store, k("thing", "one"), "1");
    const guesses = [
      follow,
      () => undefined,
      () => Promise.reject(new Error("a wrong guess")),
      (view: { get(key: Uint8Array): unknown }) => view.get(k("elsewhere")),
    ];
    for (const prefetch of guesses) {
      expect(await store.snapshot(follow, { prefetch })).toBe("1");
      expect(await store.transact(follow, { prefetch })).toBe("1");
    }
    await store.close();
  });

  it("is not affected by stale predictions", async () => {
    const url = database.newUrl();
    const [store, other] = await Promise.all([open(url), open(url)]);
    await put(other, k("thing", "one"), "1");
    await put(other, k("thing", "two"), "2");
    for (const [name, thing] of [
      ["one", "1"],
      ["two", "2"],
      ["three", undefined],
    ] as const) {
      await put(other, k("place"), name);
      expect(await store.snapshot(follow, { prefetch: follow })).toBe(thing);
    }
    await Promise.all([store.close(), other.close()]);
  });

  it("reads ranges with their index targets completely", async () => {
    const store = await open(database.newUrl());
    for (const id of [1, 2, 3]) {
      await put(store, k("line", id), String(id));
      await put(store, k("item", id), `item ${id}`);
    }
    const skip = k("line").length;
    for (const limit of [1, 2, 3, 4, 100]) {
      const bounds = { ...below("line"), limit, indexTarget: { skip, prefix: k("item") } };
      const all = async (view: Parameters<typeof values>[0]) => {
        await view.get(k("x"));
        const places = await values(view, bounds);
        const items = [];
        for (const place of places) items.push(text(await view.get(k("item", Number(place)))));
        return items;
      };
      const expected = ["item 1", "item 2", "item 3"].slice(0, limit);
      expect(await store.snapshot(all, { prefetch: all })).toEqual(expected);
    }
    await store.close();
  });

  it("loses no update between nodes", async () => {
    const url = database.newUrl();
    const stores = await Promise.all([open(url), open(url), open(url)]);
    const [callers, rounds] = [4, 15];
    const prefetch = (view: { get(key: Uint8Array): unknown }) => view.get(k("count"));
    await Promise.all(
      stores.flatMap((store) =>
        Array.from({ length: callers }, async () => {
          for (let round = 0; round < rounds; round += 1) {
            await store.transact((tx) => increment(tx, k("count")), { prefetch });
          }
        }),
      ),
    );
    const [first] = stores;
    const count = await first?.snapshot((view) => view.get(k("count")));
    expect(text(count ?? undefined)).toBe(String(stores.length * callers * rounds));
    for (const store of stores) await store.close();
  });
});

describe("a partially cached state", () => {
  const letter = fc.constantFrom("a", "b", "c", "d", "e", "f");
  const entryOf = (name: string): VersionedEntry => {
    const key = keyOfText(name);
    return { key, text: name, revision: 1, value: key };
  };

  it("scans like the complete state, or reports a miss", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(letter),
        fc.record({ start: letter, end: letter, limit: fc.integer({ min: 1, max: 4 }) }),
        fc.record({ start: letter, end: letter, countMax: fc.integer({ min: 1, max: 4 }) }),
        (names, planned, asked) => {
          const within = (start: string, end: string, most: number) =>
            names
              .toSorted()
              .filter((name) => name >= start && name < end)
              .slice(0, most);
          const entries = within(planned.start, planned.end, planned.limit).map(entryOf);
          const last = entries.length < planned.limit ? undefined : entries.at(-1);
          const knownUpTo = last === undefined ? planned.end : `${last.text}\0`;
          const range = { ...planned, indexTarget: undefined, entries, knownUpTo };
          const header = { sequence: 1, ticks: 0n, clockOffset: 0n };
          const state = new PrefetchedState({ header, keys: new Map(), ranges: [range] });
          const { start, end, countMax } = asked;
          try {
            const found = state.scan({ start, end, reverse: false }, countMax);
            expect(found.map((entry) => entry.text)).toEqual(within(start, end, countMax));
          } catch (error) {
            if (!state.isIncomplete) throw error;
          }
          const isSame = start === planned.start && end === planned.end;
          if (isSame && countMax <= planned.limit && start < end)
            expect(state.isIncomplete).toBe(false);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe("the read cache of a node", () => {
  it("is bounded and keeps recently used values", () => {
    const memory = new ReadCache();
    const learn = (name: string) =>
      memory.put({ key: keyOfText(name), text: name, revision: 1, value: keyOfText("v") });
    learn("kept");
    for (let index = 0; index < 20_000; index += 1) {
      learn(`passing ${index}`);
      if (index % 1000 === 0) expect(memory.get("kept")).toBeDefined();
    }
    expect(memory.get("passing 0")).toBeUndefined();
    expect(memory.get("passing 19999")).toBeDefined();
  });
});
