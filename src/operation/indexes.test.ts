import { newLoopShare } from "../base/loop-share.ts";
import { realClock } from "../host/world.ts";
import { describe, expect, it } from "vitest";
import type { ContentStore } from "../content/content.ts";
import { put, remove, type Effect } from "./effects.ts";
import { anyTable, defineIndex, defineTable, recordCodec } from "../encoding/table.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import type { Store } from "../store/store.ts";
import { applyEffects } from "./apply.ts";
import { enqueueJob } from "./reclaim-jobs.ts";
import { reclaimStep } from "./reclaim.ts";

const colours = defineIndex<{ colour: string; name: string }, object>({
  name: "colours",
  tag: 0x71,
  key: ({ colour, name }) => [colour, name],
  codec: recordCodec<object>({ version: 1 }),
});
const things = defineTable<string, { readonly colour: string }>({
  name: "things",
  tag: 0x70,
  key: (name) => [name],
  codec: recordCodec<{ readonly colour: string }>({ version: 1 }),
  owner: "store",
  lifetime: "durable",
  role: "record",
  isArchived: false,
  indexes: ({ colour }, parts) => {
    const [name] = parts() as [string];
    return [{ key: colours.key({ colour, name }), value: colours.codec.encode({}) }];
  },
});

/** The records of these tests have no content. */
const content = { loop: newLoopShare(realClock()) } as ContentStore;

function apply(store: Store, ...effects: readonly Effect[]): Promise<void> {
  return store.transact((tx) => applyEffects(content, tx, effects, tx.now));
}

function indexed(store: Store): Promise<string[]> {
  return store.snapshot(async (view) => {
    const found: string[] = [];
    for await (const batch of view.range(colours.range([]))) {
      for (const { key } of batch) found.push(colours.parts(key).join(" "));
    }
    return found;
  });
}

describe("index entries", () => {
  it("are written, changed and removed with their record", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    await apply(store, put(things, "a", { colour: "red" }), put(things, "b", { colour: "red" }));
    expect(await indexed(store)).toEqual(["red a", "red b"]);
    await apply(store, put(things, "a", { colour: "blue" }));
    expect(await indexed(store)).toEqual(["blue a", "red b"]);
    await apply(store, remove(things, "b"));
    expect(await indexed(store)).toEqual(["blue a"]);
    await store.close();
  });

  it("are removed when the record is reclaimed", async () => {
    const store = openMemoryStore({ clock: manualClock() });
    await apply(store, put(things, "a", { colour: "red" }));
    await store.transact(async (tx) => enqueueJob(tx, { kind: "all", scope: [] }, tx.now));
    const removals = [{ table: anyTable(things), key: things.key("a") }];
    const reclaimers = new Map([["all", async () => ({ removals, done: true })]]);
    expect(await reclaimStep({ store, content, reclaimers })).toBe(true);
    expect(await indexed(store)).toEqual([]);
    await store.close();
  });
});
