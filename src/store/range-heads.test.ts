import { expect, it } from "vitest";

import { Attempt } from "./attempt.ts";
import type { EngineReader, VersionedEntry } from "./engine.ts";
import { keyOfText } from "./key-text.ts";
import { BatchChanges } from "./batch-changes.ts";

/** A line of such keys, as an engine holds it. */
function lineOf(...texts: readonly string[]): EngineReader & { scanned: number } {
  const entries: VersionedEntry[] = texts.map((text) => ({
    key: keyOfText(text),
    text,
    value: new Uint8Array(1),
    revision: 1,
  }));
  return {
    sequence: 1,
    ticks: 0n,
    clockOffset: 0n,
    priorityOwner: 0,
    scanned: 0,
    get: (_key, wanted) => entries.find(({ text }) => text === wanted),
    scan({ start, end }, countMax) {
      const found = entries.filter(({ text }) => text >= start && text < end).slice(0, countMax);
      this.scanned += found.length;
      return found;
    },
  };
}

const bounds = { start: keyOfText("q"), end: keyOfText("r"), limit: 1 };

async function takeFirst(attempt: Attempt): Promise<string | undefined> {
  const [first] = await attempt.take(bounds);
  if (first !== undefined) attempt.delete(first.key);
  return first?.text;
}

it("the next begins where the one before has ended, and leans on it", async () => {
  const state = lineOf("q1", "q2", "q3");
  const shared = new BatchChanges();
  const attempts: Attempt[] = [];
  for (const expected of ["q1", "q2", "q3", undefined]) {
    const attempt = new Attempt(state, 0n, shared);
    expect(await takeFirst(attempt)).toBe(expected);
    expect([...attempt.dependencies]).toEqual(attempts.slice(-1));
    shared.share(attempt);
    attempts.push(attempt);
  }
  expect(state.scanned).toBe(3);
});

it("what is put before the front is found, and whose it is known", async () => {
  const state = lineOf("q5", "q6");
  const shared = new BatchChanges();
  const [taker, putter, next] = [0, 1, 2].map(() => new Attempt(state, 0n, shared)) as [
    Attempt,
    Attempt,
    Attempt,
  ];
  await takeFirst(taker);
  shared.share(taker);
  putter.put(keyOfText("q1"), new Uint8Array(1));
  shared.share(putter);
  expect(await takeFirst(next)).toBe("q1");
  expect(next.dependencies).toEqual(new Set([taker, putter]));
});

it("who has changed something itself looks at all of it", async () => {
  const state = lineOf("q2", "q3");
  const shared = new BatchChanges();
  const attempt = new Attempt(state, 0n, shared);
  attempt.put(keyOfText("q1"), new Uint8Array(1));
  expect(await takeFirst(attempt)).toBe("q1");
  shared.share(attempt);
  expect(await takeFirst(new Attempt(state, 0n, shared))).toBe("q2");
});

it("who falls short of the end of the line leaves it open", async () => {
  const shared = new BatchChanges();
  const early = new Attempt(lineOf(), 0n, shared);
  await early.take({ ...bounds, end: keyOfText("q5") });
  shared.share(early);
  expect(await takeFirst(new Attempt(lineOf("q7"), 0n, shared))).toBe("q7");
});
