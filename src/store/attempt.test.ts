import { describe, expect, it } from "vitest";

import { keyOfText, textOfKey } from "../encoding/keys.ts";
import { Attempt } from "./attempt.ts";
import { latestTicks } from "./committer.ts";
import type { EngineReader, VersionedEntry } from "./engine.ts";
import { decodeCounter, encodeCounter } from "./store.ts";
import { BatchChanges, WriteSet } from "./write-set.ts";

/** A state with these keys; all have the same value and revision. */
function stateWith(value: Uint8Array, ...texts: readonly string[]): EngineReader {
  const entries: VersionedEntry[] = texts.map((text) => ({
    key: keyOfText(text),
    text,
    value,
    revision: 1,
  }));
  return {
    sequence: 1,
    ticks: 0n,
    clockOffset: 0n,
    priorityOwner: 0,
    get: (_key, requested) => entries.find(({ text }) => text === requested),
    scan({ start, end, reverse }, countMax) {
      const found = entries.filter(({ text }) => text >= start && text < end);
      return (reverse ? found.toReversed() : found).slice(0, countMax);
    },
  };
}

const one = new Uint8Array(1);

describe("an attempt", () => {
  it("reads a counter with the additions of the batch before it, and depends on them", async () => {
    const state = stateWith(encodeCounter(10n), "n");
    const shared = new BatchChanges();
    const adding = new Attempt(state, 0n, shared);
    adding.add(keyOfText("n"), 5n);
    shared.share(adding);
    const reading = new Attempt(state, 0n, shared);
    expect(decodeCounter(await reading.get(keyOfText("n")))).toBe(15n);
    expect([...reading.dependencies]).toEqual([adding]);
  });

  it("conflicts with changes of what it has read only", async () => {
    const attempt = new Attempt(stateWith(one, "a", "b"), 0n);
    await attempt.get(keyOfText("a"));
    const changes = new WriteSet();
    expect(attempt.conflictsWith(changes)).toBe(false);
    changes.set({ kind: "delete", key: keyOfText("b"), text: "b" });
    expect(attempt.conflictsWith(changes)).toBe(false);
    changes.set({ kind: "delete", key: keyOfText("a"), text: "a" });
    expect(attempt.conflictsWith(changes)).toBe(true);
  });

  it("depends on no other if it has read no uncommitted change", () => {
    const attempt = new Attempt(stateWith(one), 0n);
    expect(attempt.dependsOnAny(new Set())).toBe(false);
    expect(attempt.dependsOnAny(new Set([new Attempt(stateWith(one), 0n)]))).toBe(false);
  });

  it.each([true, false])("stays valid on the same entries (reverse: %s)", async (reverse) => {
    const state = stateWith(one, "q1", "q2", "q3");
    const attempt = new Attempt(state, 0n);
    const bounds = { start: keyOfText("q"), end: keyOfText("r"), reverse, limit: 10 };
    const seen: string[] = [];
    for await (const batch of attempt.range(bounds)) {
      seen.push(...batch.map(({ key }) => textOfKey(key)));
    }
    expect(seen).toEqual(reverse ? ["q3", "q2", "q1"] : ["q1", "q2", "q3"]);
    expect(attempt.isStaleAgainst(state)).toBe(false);
    expect(attempt.isStaleAgainst(stateWith(one, "q1", "q2", "q3", "q4"))).toBe(true);
    expect(attempt.isStaleAgainst(stateWith(one, "q1", "q2"))).toBe(true);
  });

  it("reads a head in reverse from the end, whatever earlier attempts have deleted", async () => {
    const state = stateWith(one, "q1", "q2", "q3");
    const shared = new BatchChanges();
    const bounds = { start: keyOfText("q"), end: keyOfText("r"), limit: 1 };
    const first = new Attempt(state, 0n, shared);
    const [head] = await first.readHead(bounds);
    first.delete(head!.key);
    shared.share(first);
    const reversed = new Attempt(state, 0n, shared);
    const [last] = await reversed.readHead({ ...bounds, reverse: true });
    expect(last?.text).toBe("q3");
    expect([...reversed.dependencies]).toEqual([]);
  });
});

describe("the head of a range", () => {
  it.each([
    // Before the range, at its start, and directly after its end.
    ["p", undefined],
    ["q", "q"],
    ["r", undefined],
  ])("moves back for an entry %s put after all were deleted: %s", async (text, found) => {
    const state = stateWith(one, "q1");
    const shared = new BatchChanges();
    const bounds = { start: keyOfText("q"), end: keyOfText("r"), limit: 1 };
    const first = new Attempt(state, 0n, shared);
    const [head] = await first.readHead(bounds);
    first.delete(head!.key);
    shared.share(first);
    const second = new Attempt(state, 0n, shared);
    expect(await second.readHead(bounds)).toEqual([]);
    shared.share(second);
    const writer = new Attempt(state, 0n, shared);
    writer.put(keyOfText(text), one);
    shared.share(writer);
    const next = new Attempt(state, 0n, shared);
    expect((await next.readHead(bounds))[0]?.text).toBe(found);
  });
});

describe("a set of changes", () => {
  it("intersects the ranges in which it has a change", () => {
    const changes = new WriteSet();
    const bounds = { start: "a", end: "c", reverse: false };
    expect(changes.intersects(bounds)).toBe(false);
    changes.set({ kind: "delete", key: keyOfText("c"), text: "c" });
    expect(changes.intersects(bounds)).toBe(false);
    changes.set({ kind: "delete", key: keyOfText("a"), text: "a" });
    expect(changes.intersects(bounds)).toBe(true);
  });
});

it("the time of a commit is the latest of its attempts, and not before the store's", () => {
  const at = (now: bigint) => ({ now });
  expect(latestTicks([at(3n), at(7n), at(5n)], 4n)).toBe(7n);
  expect(latestTicks([at(3n)], 4n)).toBe(4n);
});
