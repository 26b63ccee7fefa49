import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  append,
  clear,
  compose,
  empty,
  resize,
  share,
  write,
  asPart,
  type ContentPlan,
  type ContentRef,
  type ReceivedBody,
  type SliceSource,
} from "../content-ref.ts";
import {
  openContentFixture,
  pattern,
  type ContentFixture,
} from "../../../tests/harness/content-fixture.ts";
import { isEncrypted } from "../../../tests/harness/test-encryption.ts";

/** Three objects are compared with three plain arrays. */
const names = ["a", "b", "c"] as const;
type Name = (typeof names)[number];

type Step =
  | { readonly step: "write"; readonly name: Name; readonly at: number; readonly length: number }
  | { readonly step: "clear"; readonly name: Name; readonly at: number; readonly length: number }
  | { readonly step: "resize"; readonly name: Name; readonly length: number }
  | { readonly step: "append"; readonly name: Name; readonly length: number }
  | { readonly step: "compose"; readonly name: Name; readonly lengths: readonly number[] }
  | { readonly step: "share"; readonly name: Name; readonly from: Name }
  | { readonly step: "scatter"; readonly name: Name; readonly count: number }
  | { readonly step: "remove"; readonly name: Name }
  | { readonly step: "reclaim" };

const name = fc.constantFrom(...names);
/** Scattered slices begin at multiples of 41. */
const place = fc.oneof(
  fc.integer({ min: 0, max: 40_000 }),
  fc.integer({ min: 0, max: 900 }).map((index) => index * 41),
  fc.constant(0),
);
const length = fc.oneof(
  fc.integer({ min: 1, max: 40 }),
  fc.integer({ min: 1, max: 3000 }),
  fc.integer({ min: 1, max: 30_000 }),
);
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ step: fc.constant("write" as const), name, at: place, length }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ step: fc.constant("clear" as const), name, at: place, length }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant("clear" as const),
      name,
      at: place,
      length: fc.constant(20_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ step: fc.constant("resize" as const), name, length: place }),
  },
  { weight: 3, arbitrary: fc.record({ step: fc.constant("append" as const), name, length }) },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant("compose" as const),
      name,
      lengths: fc.array(length, { maxLength: 60 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ step: fc.constant("share" as const), name, from: name }) },
  {
    weight: 3,
    arbitrary: fc.record({
      step: fc.constant("scatter" as const),
      name,
      count: fc.integer({ min: 50, max: 900 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant("remove" as const), name }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant("reclaim" as const) }) },
) satisfies fc.Arbitrary<Step>;

type Model = Map<Name, Uint8Array>;

class Player {
  readonly #fixture: ContentFixture;
  readonly model: Model = new Map();
  #seed = 1;

  constructor(fixture: ContentFixture) {
    this.#fixture = fixture;
  }

  async play(next: Step): Promise<void> {
    if (next.step === "reclaim") return void (await this.#fixture.content.reclaim());
    if (next.step === "remove") {
      this.model.delete(next.name);
      return this.#fixture.remove(next.name);
    }
    const before = this.model.get(next.name) ?? new Uint8Array(0);
    switch (next.step) {
      case "write":
        return this.#write(next.name, before, next);
      case "append":
        return this.#write(next.name, before, { at: before.length, length: next.length });
      case "clear":
        this.model.set(
          next.name,
          overwritten(before, Math.min(next.at, before.length), {
            bytes: new Uint8Array(Math.max(0, Math.min(next.length, before.length - next.at))),
          }),
        );
        return this.#fixture.put(next.name, (base) => clear(base, next));
      case "resize":
        this.model.set(next.name, resized(before, next.length));
        return this.#fixture.put(next.name, (base) => resize(base, next.length));
      case "scatter":
        return this.#scatter(next.name, before, next.count);
      case "compose":
        return this.#compose(next.name, next.lengths);
      case "share":
        return this.#share(next.name, next.from);
      default:
        return next satisfies never;
    }
  }

  async #write(
    target: Name,
    before: Uint8Array,
    { at, length: count }: { at: number; length: number },
  ): Promise<void> {
    const bytes = pattern(count, this.#seed++);
    const received = await this.#fixture.receive(bytes);
    this.model.set(target, overwritten(before, at, { bytes }));
    const plan = (base: ContentRef): ContentPlan =>
      at === base.length ? append(base, received) : write(base, at, received);
    await this.#fixture.put(target, plan);
    this.#fixture.content.discard(received);
  }

  /** Many small writes in one plan create a tree at once. */
  async #scatter(target: Name, before: Uint8Array, count: number): Promise<void> {
    let after = before;
    const bytes = pattern(300, this.#seed++);
    const received = await this.#fixture.receive(bytes);
    const edits = Array.from({ length: count }, (_, index) => {
      const at = ((index * 7919) % 1000) * 41;
      after = overwritten(after, at, { bytes: bytes.subarray(0, 30) });
      const source = withoutChecksum(received);
      const pieces = [{ length: 30, source }];
      return { edit: "write", at, part: { pieces } } as const;
    });
    this.model.set(target, after);
    await this.#fixture.put(target, (base) => ({ plan: "edit", base, edits }));
    this.#fixture.content.discard(received);
  }

  async #compose(target: Name, lengths: readonly number[]): Promise<void> {
    const bodies = lengths.map((count) => pattern(count, this.#seed++));
    const all = await Promise.all(bodies.map((body) => this.#fixture.receive(body)));
    const parts = all.map((received, index) => asPart(received, `block-${index}`));
    this.model.set(target, new Uint8Array(Buffer.concat(bodies)));
    await this.#fixture.put(target, () => compose(parts));
    for (const received of all) this.#fixture.content.discard(received);
  }

  async #share(target: Name, from: Name): Promise<void> {
    const source = await this.#fixture.get(from);
    if (source === undefined) return;
    this.model.set(target, this.model.get(from) as Uint8Array);
    await this.#fixture.put(target, () => share(source));
  }

  async check(): Promise<void> {
    for (const [each, bytes] of this.model) {
      expect((await this.#fixture.get(each))?.length).toBe(bytes.length);
      const found = await this.#fixture.read(each);
      expect(Buffer.compare(found, bytes)).toBe(0);
      const from = Math.floor(bytes.length / 3);
      const middle = await this.#fixture.read(each, { from, length: 5000 });
      expect(Buffer.compare(middle, bytes.subarray(from, from + 5000))).toBe(0);
    }
  }
}

/** A prefix of a body has no checksum: that of the body covers all bytes. */
function withoutChecksum({ pieces }: ReceivedBody): SliceSource {
  const source = pieces[0]?.source;
  if (source === undefined || "bytes" in source) throw new Error("the body should not be inline");
  return { extent: source.extent, offset: source.offset };
}

function overwritten(base: Uint8Array, at: number, { bytes }: { bytes: Uint8Array }): Uint8Array {
  const result = resized(base, Math.max(base.length, at + bytes.length));
  result.set(bytes, at);
  return result;
}

function resized(base: Uint8Array, count: number): Uint8Array {
  const result = new Uint8Array(count);
  result.set(base.subarray(0, Math.min(count, base.length)));
  return result;
}

/** Small, so that contents are in several extents; an encrypted one must take a whole region. */
const extentBytes = isEncrypted ? 128 * 1024 : 16 * 1024;

describe("contents behave like plain bytes", () => {
  test("under any writes, clears, resizes and shares, and leave no garbage", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const fixture = await openContentFixture({ extentBytes });
        const player = new Player(fixture);
        for (const next of steps) await player.play(next);
        await player.check();
        await fixture.reclaimAll();
        await player.check();
        for (const each of names) await fixture.remove(each);
        await fixture.reclaimAll();
        await fixture.content.close();
        await fixture.reclaimAll();
        expect(await fixture.entries()).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});

test("a write over a whole tree replaces it", async () => {
  const fixture = await openContentFixture();
  const player = new Player(fixture);
  await player.play({ step: "scatter", name: "a", count: 900 });
  await player.play({ step: "write", name: "a", at: 0, length: 30_000 });
  await player.check();
  await player.play({ step: "write", name: "a", at: 0, length: 100_000 });
  await player.check();
  expect((await fixture.get("a"))?.kind).toBe("slices");
});

describe("copy on write", () => {
  test("a shared tree keeps its bytes while the other is changed", async () => {
    const fixture = await openContentFixture();
    const player = new Player(fixture);
    await player.play({ step: "scatter", name: "a", count: 900 });
    await player.play({ step: "share", name: "b", from: "a" });
    expect(await fixture.get("b")).toEqual(await fixture.get("a"));
    await player.play({ step: "write", name: "a", at: 5000, length: 300 });
    await player.play({ step: "clear", name: "b", at: 0, length: 9000 });
    await player.check();
    await player.play({ step: "remove", name: "a" });
    await fixture.reclaimAll();
    await player.check();
  });

  test("a content of nothing but holes reads as zeros", async () => {
    const fixture = await openContentFixture();
    await fixture.put("a", () => empty(3_000_000));
    const bytes = await fixture.read("a");
    expect(bytes.length).toBe(3_000_000);
    expect(bytes.every((byte) => byte === 0)).toBe(true);
  });
});
