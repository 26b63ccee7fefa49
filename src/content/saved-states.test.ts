import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import type { SavedStates } from "../store/saved-states/saved-states.ts";
import { ContentAudit } from "./audit/audit-content.ts";
import { compose, asPart, write, type ContentRef, type ReceivedBody } from "./content-ref.ts";
import { memoryFiles } from "./extents/memory-files.ts";
import { contentRestore } from "./restore-rules.ts";
import {
  expectSame,
  openContentFixture,
  pattern,
  putBody,
  readAll,
  testObjects,
  type ContentFixture,
} from "../../tests/harness/content-fixture.ts";

const extentBytes = 64 * 1024;
const bodyBytes = 5000;
/** More than fit into a record, so the content is a tree. */
const treeParts = 40;

interface SavedFixture extends ContentFixture {
  readonly states: SavedStates;
}

async function openFixture(): Promise<SavedFixture> {
  const clock = manualClock();
  const store = openMemoryStore({ clock, restoreRules: contentRestore });
  const files = memoryFiles({ bytesMax: 2 ** 28 });
  const fixture = await openContentFixture({ store, files, clock, extentBytes });
  if (store.savedStates === undefined) throw new Error("the store has no saved states");
  return { ...fixture, states: store.savedStates };
}

/** Stores content that is a tree: parts of different bodies never merge. */
async function putTree(fixture: ContentFixture, name: string, seed: number): Promise<Uint8Array> {
  const bodies = Array.from({ length: treeParts }, (_, index) => pattern(300, seed * 100 + index));
  const received: ReceivedBody[] = [];
  for (const body of bodies) {
    received.push(await fixture.receive(body));
    // A gap in the extent.
    fixture.content.discard(await fixture.receive(pattern(300, 1)));
  }
  await fixture.put(name, () => compose(received.map((each) => asPart(each))));
  for (const each of received) fixture.content.discard(each);
  return new Uint8Array(Buffer.concat(bodies));
}

async function overwriteStart(fixture: ContentFixture, name: string, seed: number) {
  const received = await fixture.receive(pattern(300, seed));
  await fixture.put(name, (before) => write(before, 0, received));
  fixture.content.discard(received);
}

async function auditProblems({ store, files }: ContentFixture): Promise<readonly string[]> {
  const problems: string[] = [];
  await store.snapshot(async (view) => {
    const report = (problem: string): void => void problems.push(problem);
    const audit = new ContentAudit({ view, files, filesBefore: new Set(), report });
    await audit.begin();
    for await (const entries of view.range(testObjects.range([]))) {
      for (const { key, value } of entries) {
        const { name, content } = testObjects.codec.decode(value);
        await audit.addRecord(name, key, content as ContentRef);
      }
    }
    await audit.finish();
  });
  return problems;
}

describe("a saved state", () => {
  test("keeps the bytes it refers to, however much is reclaimed", async () => {
    const fixture = await openFixture();
    for (let index = 0; index < 30; index += 1) {
      await putBody(fixture, `object-${index}`, pattern(bodyBytes, index));
    }
    const tree = await putTree(fixture, "tree", 7);
    await fixture.states.save("one");
    for (let round = 0; round < 3; round += 1) {
      for (let index = 0; index < 30; index += 1) await fixture.remove(`object-${index}`);
      await overwriteStart(fixture, "tree", 900 + round);
      await putTree(fixture, "new tree", 8);
      await fixture.reclaimAll();
      await fixture.states.restore("one");
      // Again before the nodes that the first restore left have been deleted.
      await fixture.states.restore("one");
      expect(await auditProblems(fixture)).toEqual([]);
      await fixture.reclaimAll();
      for (let index = 0; index < 30; index += 1) {
        expectSame(await fixture.read(`object-${index}`), pattern(bodyBytes, index));
      }
      expectSame(await fixture.read("tree"), tree);
      expect(await fixture.get("new tree")).toBeUndefined();
      expect(await auditProblems(fixture)).toEqual([]);
    }
  });

  test("does not keep what was written since, nor anything after its deletion", async () => {
    const fixture = await openFixture();
    await putBody(fixture, "kept", pattern(bodyBytes, 1));
    await fixture.states.save("one");
    await fixture.reclaimAll();
    const counts: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      for (let index = 0; index < 40; index += 1) {
        await putBody(fixture, `object-${index}`, pattern(bodyBytes, index));
      }
      await putTree(fixture, "tree", round);
      await fixture.states.restore("one");
      await fixture.reclaimAll();
      counts.push(await fixture.entries());
    }
    expect(Math.max(...counts.slice(1))).toBeLessThanOrEqual((counts[0] ?? 0) + 2);
    await fixture.states.delete("one");
    await fixture.remove("kept");
    await fixture.content.close();
    await fixture.reclaimAll();
    expect(await fixture.entries()).toBe(0);
  });

  test("does not end a download of what it does not contain", async () => {
    const fixture = await openFixture();
    await fixture.states.save("one");
    const bytes = await putTree(fixture, "tree", 3);
    const ref = (await fixture.get("tree")) as ContentRef;
    const reader = await fixture.store.snapshot((view) => fixture.content.open(view, ref));
    await fixture.states.restore("one");
    await fixture.reclaimAll();
    expectSame(await readAll(reader.read(0, reader.length)), bytes);
    reader.close();
    await fixture.reclaimAll();
    const nodes = await auditProblems(fixture);
    expect(nodes).toEqual([]);
  });
});

type Step = { readonly kind: string; readonly name: string; readonly seed: number };

async function runStep(
  fixture: SavedFixture,
  model: Map<string, Uint8Array>,
  { kind, name, seed }: Step,
): Promise<void> {
  if (kind === "body") {
    await putBody(fixture, name, pattern(bodyBytes, seed));
    model.set(name, pattern(bodyBytes, seed));
  } else if (kind === "tree") model.set(name, await putTree(fixture, name, seed));
  else if (kind === "copy" && model.has("a") && name !== "a") {
    await fixture.putFrom("a", name);
    model.set(name, model.get("a") as Uint8Array);
  } else if (kind === "remove") {
    await fixture.remove(name);
    model.delete(name);
  } else if (kind === "edit" && model.has(name)) {
    await overwriteStart(fixture, name, seed);
    const bytes = new Uint8Array(model.get(name) as Uint8Array);
    bytes.set(pattern(300, seed));
    model.set(name, bytes);
  } else if (kind === "reclaim") await fixture.reclaimAll();
}

const steps = fc.array(
  fc.record({
    kind: fc.constantFrom("body", "tree", "copy", "remove", "edit", "reclaim", "save", "restore"),
    name: fc.constantFrom("a", "b", "c"),
    seed: fc.integer({ min: 1, max: 50 }),
  }),
  { maxLength: 25 },
);

describe("any sequence of changes and restores", () => {
  test("keeps every byte, every count, and leaves nothing behind", async () => {
    const property = fc.asyncProperty(steps, async (sequence) => {
      const fixture = await openFixture();
      let model = new Map<string, Uint8Array>();
      const saved = new Map<string, Map<string, Uint8Array>>();
      for (const step of sequence) {
        await runStep(fixture, model, step);
        if (step.kind === "save" && (await fixture.states.save(step.name)) === "saved") {
          saved.set(step.name, new Map(model));
        } else if (step.kind === "restore" && (await fixture.states.restore(step.name))) {
          model = new Map(saved.get(step.name));
        }
        expect(await auditProblems(fixture)).toEqual([]);
        for (const [name, bytes] of model) expectSame(await fixture.read(name), bytes);
      }
      for (const name of saved.keys()) await fixture.states.delete(name);
      for (const name of model.keys()) await fixture.remove(name);
      await fixture.content.close();
      await fixture.reclaimAll();
      expect(await fixture.entries()).toBe(0);
    });
    await fc.assert(property, { seed: 3, numRuns: 60 });
  });
});
