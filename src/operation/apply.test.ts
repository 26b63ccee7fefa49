import { describe, expect, test } from "vitest";
import { share, whole, type ContentPlan } from "../content/content-ref.ts";
import { openContentFixture, pattern, testObjects } from "../../tests/harness/content-fixture.ts";
import type { ContentFixture } from "../../tests/harness/content-fixture.ts";
import { applyEffects } from "./apply.ts";
import { put, remove } from "./effects.ts";
import type { Effect } from "./effects.ts";

const inlineBytes = 100;
const extentBytes = 5000;

/** Applies the effects in a transaction. Returns whether that took a promise. */
function isAwaited({ store, content }: ContentFixture, effects: readonly Effect[]) {
  return store.transact(async (tx) => {
    const applied = applyEffects(content, tx, effects, tx.now);
    await applied;
    return applied instanceof Promise;
  });
}

function putObject(name: string, plan: ContentPlan): Effect {
  return put(testObjects, name, { name }, plan);
}

describe("a transaction awaits nothing that is available", () => {
  test("records with inline content are created, replaced, copied and removed", async () => {
    const fixture = await openContentFixture();
    const first = whole(await fixture.receive(pattern(inlineBytes, 1)));
    const second = whole(await fixture.receive(pattern(inlineBytes, 2)));
    expect(await isAwaited(fixture, [putObject("a", first)])).toBe(false);
    expect(await isAwaited(fixture, [putObject("a", second)])).toBe(false);
    const ref = await fixture.get("a");
    expect(await isAwaited(fixture, [putObject("b", share(ref!))])).toBe(false);
    expect(await isAwaited(fixture, [remove(testObjects, "a")])).toBe(false);
    expect(await fixture.get("a")).toBeUndefined();
    expect(await fixture.read("b")).toEqual(pattern(inlineBytes, 2));
  });

  test("content in extents replaces inline content and is released by it", async () => {
    const fixture = await openContentFixture();
    const small = whole(await fixture.receive(pattern(inlineBytes, 1)));
    const large = await fixture.receive(pattern(extentBytes, 2));
    await isAwaited(fixture, [putObject("a", small)]);
    const entriesBefore = await fixture.entries();
    expect(await isAwaited(fixture, [putObject("a", whole(large))])).toBe(true);
    fixture.content.discard(large);
    expect(await fixture.read("a")).toEqual(pattern(extentBytes, 2));
    const entriesWithExtent = await fixture.entries();
    expect(entriesWithExtent).toBeGreaterThan(entriesBefore);
    expect(await isAwaited(fixture, [putObject("a", small)])).toBe(true);
    expect(await fixture.entries()).toBeLessThan(entriesWithExtent);
    expect(await fixture.read("a")).toEqual(pattern(inlineBytes, 1));
  });
});
