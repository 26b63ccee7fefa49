import { describe, expect, test } from "vitest";
import {
  compose,
  share,
  write,
  type ContentPart,
  type ContentRef,
  type Slice,
} from "../content-ref.ts";
import type { Transaction } from "../../store/store.ts";
import {
  openContentFixture,
  pattern,
  testObjects,
  type ContentFixture,
} from "../../../tests/harness/content-fixture.ts";

/** Ranges that never merge: every second range of an extent that does not exist. */
function scattered(count: number): ContentPart[] {
  return Array.from({ length: count }, (_, index) => ({
    pieces: [{ length: 512, source: { extent: 77n, offset: index * 1024 } }],
  }));
}

/** Runs one transaction and counts the keys it reads and writes. */
async function countTouched(fixture: ContentFixture, run: (tx: Transaction) => Promise<void>) {
  const touched = { reads: 0, writes: 0 };
  await fixture.store.transact(async (tx) => {
    touched.reads = 0;
    touched.writes = 0;
    const counting: Transaction = {
      now: tx.now,
      sequence: tx.sequence,
      get: (key) => ((touched.reads += 1), tx.get(key)),
      peek: (key) => ((touched.reads += 1), tx.peek(key)),
      range: (bounds) => tx.range(bounds),
      readHead: (bounds) => tx.readHead(bounds),
      put: (key, value) => ((touched.writes += 1), tx.put(key, value)),
      delete: (key) => ((touched.writes += 1), tx.delete(key)),
      add: (key, delta) => ((touched.writes += 1), tx.add(key, delta)),
      append: (log, value) => ((touched.writes += 1), tx.append(log, value)),
    };
    await run(counting);
  });
  return touched;
}

describe("a map of a million ranges", () => {
  const ranges = 1_000_000;

  test("needs only a few nodes for a write, a share or a removal", async () => {
    const fixture = await openContentFixture();
    await fixture.put("big", () => compose(scattered(ranges)));
    const key = testObjects.key("big");
    const received = await fixture.receive(pattern(512, 1));
    let ref = (await fixture.get("big")) as ContentRef;
    expect(ref).toMatchObject({ kind: "tree", length: ranges * 512 });

    const shared = await countTouched(fixture, async (tx) => {
      await fixture.content.applyPlan(tx, testObjects.key("twin"), undefined, share(ref));
    });
    expect(shared.reads + shared.writes).toBeLessThanOrEqual(2);
    const released = await countTouched(fixture, async (tx) => {
      await fixture.content.applyPlan(tx, testObjects.key("twin"), ref, undefined);
    });
    expect(released.reads + released.writes).toBeLessThanOrEqual(3);

    for (const at of [0, 1, 512 * 500_000, 512 * 999_999 + 100]) {
      const touched = await countTouched(fixture, async (tx) => {
        const after = await fixture.content.applyPlan(tx, key, ref, write(ref, at, received));
        ref = after as ContentRef;
        tx.put(key, testObjects.codec.encode({ name: "big", content: ref }));
      });
      expect(touched.reads).toBeLessThan(10);
      expect(touched.writes).toBeLessThan(20);
    }
    const removed = await countTouched(fixture, async (tx) => {
      await fixture.content.applyPlan(tx, key, ref, undefined);
      tx.delete(key);
    });
    expect(removed.reads + removed.writes).toBeLessThan(6);
    await fixture.reclaimAll();
    // The extent of the one body and the counter of the invented extent remain.
    expect(await fixture.entries()).toBe(3);
  });

  test("finds a range without reading the rest", async () => {
    const fixture = await openContentFixture();
    await fixture.put("big", () => compose(scattered(50_000)));
    const ref = (await fixture.get("big")) as ContentRef;
    const found: Slice[] = [];
    await fixture.store.snapshot(async (view) => {
      let reads = 0;
      const counting = { ...view, get: (key: Uint8Array) => ((reads += 1), view.get(key)) };
      const walked = fixture.content.slices(
        { ...counting, now: view.now, sequence: view.sequence, range: (b) => view.range(b) },
        ref,
        512 * 1000 + 10,
        1024,
      );
      for await (const slices of walked) found.push(...slices);
      expect(reads).toBeLessThan(6);
    });
    expect(found.map(({ at }) => at / 512)).toEqual([1000, 1001, 1002]);
  });
});

test("composing 50,000 blocks keeps their ids and boundaries", async () => {
  const fixture = await openContentFixture();
  const parts = scattered(50_000).map((part, index) => ({ ...part, block: `block-${index}` }));
  await fixture.put("blocks", () => compose(parts));
  const ref = (await fixture.get("blocks")) as ContentRef;
  const blocks: (string | undefined)[] = [];
  await fixture.store.snapshot(async (view) => {
    for await (const slices of fixture.content.slices(view, ref, 0, ref.length)) {
      blocks.push(...slices.map(({ block }) => block));
    }
  });
  expect(blocks).toEqual(parts.map(({ block }) => block));
});
