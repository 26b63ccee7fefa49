import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLmdbStore } from "../lmdb/open-lmdb-store.ts";
import { manualClock } from "../../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "../memory/open-memory-store.ts";
import { silentLog } from "../../../tests/harness/silent-log.ts";
import type { Key, Store } from "../store.ts";
import { plainRestore, type RestoreRules, type SavedStates } from "./saved-states.ts";

interface TestStore {
  readonly store: Store;
  readonly states: SavedStates;
}

type Contents = Readonly<Record<string, string>>;

const opened: Store[] = [];
let folder: string;
const volatilePrefix = Uint8Array.of(0x57);
const rules: RestoreRules = {
  ...plainRestore,
  excluded: new Set([0x15, 0x57]),
  cleared: [volatilePrefix],
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "etagere-saved-states-"));
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
  await rm(folder, { recursive: true, force: true });
});

const engines = [
  {
    name: "memory",
    open: async () => openMemoryStore({ clock: manualClock(), restoreRules: rules }),
  },
  { name: "lmdb", open: () => openOnDisk("lmdb") },
];

function openOnDisk(name: string): Promise<Store> {
  const common = { clock: manualClock(), log: silentLog, restoreRules: rules, volatilePrefix };
  return openLmdbStore({ location: join(folder, name), ...common });
}

async function track(opening: Promise<Store>): Promise<TestStore> {
  const store = await opening;
  opened.push(store);
  if (store.savedStates === undefined) throw new Error("the store has no saved states");
  return { store, states: store.savedStates };
}

const keyOf = (name: string): Key => Buffer.from(`\u0040${name}`);

function write(store: Store, changes: Record<string, string | undefined>): Promise<void> {
  return store.transact(async (tx) => {
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) tx.delete(keyOf(name));
      else tx.put(keyOf(name), Buffer.from(value));
    }
  });
}

function contentsOf(store: Store): Promise<Contents> {
  return store.snapshot(async (view) => {
    const found: Record<string, string> = {};
    const bounds = { start: Uint8Array.of(0x40), end: Uint8Array.of(0x41) };
    for await (const entries of view.range(bounds)) {
      for (const { key, value } of entries) {
        found[Buffer.from(key).subarray(1).toString()] = Buffer.from(value).toString();
      }
    }
    return found;
  });
}

describe.each(engines)("saved states of the $name engine", ({ open }) => {
  it("return changed, new and deleted keys to their values, any number of times", async () => {
    const { store, states } = await track(open());
    await write(store, { a: "1", b: "1", c: "1" });
    expect(await states.save("one")).toBe("saved");
    for (let round = 0; round < 3; round += 1) {
      await write(store, { a: `changed ${round}`, b: undefined, d: "new" });
      expect(await states.restore("one")).toBe(true);
      expect(await contentsOf(store)).toEqual({ a: "1", b: "1", c: "1" });
    }
  });

  it("report unknown and taken names, and change nothing", async () => {
    const { store, states } = await track(open());
    await write(store, { a: "1" });
    expect(await states.restore("none")).toBe(false);
    expect(await states.delete("none")).toBe(false);
    await states.save("one");
    await write(store, { a: "2" });
    expect(await states.save("one")).toBe("name taken");
    expect(await contentsOf(store)).toEqual({ a: "2" });
    expect(states.list().map(({ name }) => name)).toEqual(["one"]);
  });

  it("give restored values new revisions, so that a transaction in progress conflicts", async () => {
    const { store, states } = await track(open());
    await write(store, { a: "saved" });
    await states.save("one");
    await write(store, { a: "later" });
    const read: string[] = [];
    await store.transact(async (tx) => {
      const value = Buffer.from((await tx.get(keyOf("a"))) ?? []).toString();
      if (read.push(value) === 1) await states.restore("one");
      tx.put(keyOf("a"), Buffer.from(`${value}!`));
    });
    expect(read).toEqual(["later", "saved"]);
    expect(await contentsOf(store)).toEqual({ a: "saved!" });
  });

  it("never let store time go back, and call watchers", async () => {
    const { store, states } = await track(open());
    await write(store, { a: "1" });
    await states.save("one");
    await write(store, { a: "2" });
    const before = await store.snapshot((view) => view.now);
    let calls = 0;
    store.watch(keyOf("a"), () => (calls += 1));
    await states.restore("one");
    expect(await store.snapshot((view) => view.now)).toBeGreaterThan(before);
    expect(calls).toBe(1);
  });

  it("do not restore excluded keys, and delete cleared ones", async () => {
    const { store, states } = await track(open());
    const identity = Uint8Array.of(0x15, 1);
    const lock = Uint8Array.of(0x57, 1);
    await store.transact(async (tx) => {
      tx.put(identity, Uint8Array.of(1));
      tx.put(lock, Uint8Array.of(1));
    });
    await states.save("one");
    await store.transact(async (tx) => tx.put(identity, Uint8Array.of(2)));
    await states.restore("one");
    const found = await store.snapshot(async (view) => [
      await view.get(identity),
      await view.get(lock),
    ]);
    expect(found).toEqual([Uint8Array.of(2), undefined]);
  });

  it("handle the longest keys and empty values", async () => {
    const { store, states } = await track(open());
    const name = "k".repeat(3999);
    await write(store, { [name]: "" });
    await states.save("one");
    await write(store, { [name]: "changed" });
    await states.restore("one");
    expect(await contentsOf(store)).toEqual({ [name]: "" });
  });

  it("say which keys any of them contains", async () => {
    const { store, states } = await track(open());
    await write(store, { old: "1" });
    await states.save("one");
    await write(store, { old: undefined, new: "1" });
    const contain = (): readonly boolean[] => states.contain(["old", "new", "none"].map(keyOf));
    expect(contain()).toEqual([true, false, false]);
    await states.restore("one");
    await write(store, { old: undefined, new: "2" });
    expect(contain()).toEqual([true, false, false]);
    await states.save("two");
    expect(contain()).toEqual([true, true, false]);
    await states.delete("one");
    expect(contain()).toEqual([false, true, false]);
  });
});

type Step =
  | { readonly kind: "write"; readonly name: string; readonly value: string | undefined }
  | { readonly kind: "save" | "restore" | "delete"; readonly state: string };

const stateNames = fc.constantFrom("s1", "s2", "s3");
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant("write" as const),
        name: fc.constantFrom("a", "b", "c", "d"),
        value: fc.option(fc.string({ maxLength: 3 }), { nil: undefined }),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constantFrom("save" as const, "restore" as const, "delete" as const),
        state: stateNames,
      }),
    },
  ),
  { maxLength: 30 },
);

/** Applies a step to the store and to a model that keeps whole copies. */
async function runStep(
  { store, states }: TestStore,
  model: { contents: Contents; saved: Map<string, Contents> },
  step: Step,
): Promise<void> {
  if (step.kind === "write") {
    await write(store, { [step.name]: step.value });
    const { [step.name]: _, ...rest } = model.contents;
    model.contents = step.value === undefined ? rest : { ...rest, [step.name]: step.value };
    return;
  }
  const { state } = step;
  const saved = model.saved.get(state);
  if (step.kind === "save") {
    expect(await states.save(state)).toBe(saved === undefined ? "saved" : "name taken");
    if (saved === undefined) model.saved.set(state, model.contents);
  } else if (step.kind === "delete") {
    expect(await states.delete(state)).toBe(saved !== undefined);
    model.saved.delete(state);
  } else {
    expect(await states.restore(state)).toBe(saved !== undefined);
    model.contents = saved ?? model.contents;
  }
}

describe("any sequence of changes, saves, restores and deletions", () => {
  it("has the same result as whole copies", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const tested = await track(engines[0]?.open() as Promise<Store>);
        const model = { contents: {}, saved: new Map<string, Contents>() };
        for (const step of sequence) {
          await runStep(tested, model, step);
          expect(await contentsOf(tested.store)).toEqual(model.contents);
        }
      }),
      { seed: 7, numRuns: 200 },
    );
  });
});

describe("saved states on disk", () => {
  it("survive a restart, and include changes of every process", async () => {
    const first = await track(openOnDisk("shared"));
    await write(first.store, { a: "1" });
    await first.states.save("one");
    const second = await track(openOnDisk("shared"));
    await write(second.store, { a: "2", b: "2" });
    await first.store.close();
    await second.store.close();
    const third = await track(openOnDisk("shared"));
    expect(third.states.list().map(({ name }) => name)).toEqual(["one"]);
    await third.states.restore("one");
    expect(await contentsOf(third.store)).toEqual({ a: "1" });
  });
});
