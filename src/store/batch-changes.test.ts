import { expect, it } from "vitest";

import { Attempt } from "./attempt.ts";
import type { EngineReader, VersionedEntry } from "./engine.ts";
import { keyOfText } from "../encoding/keys.ts";
import { BatchChanges } from "./write-set.ts";

/** An engine that contains these keys and counts its scans. */
function engineWith(...texts: readonly string[]): EngineReader & { scanned: number } {
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
    get: (_key, requested) => entries.find(({ text }) => text === requested),
    scan({ start, end }, countMax) {
      const found = entries.filter(({ text }) => text >= start && text < end).slice(0, countMax);
      this.scanned += found.length;
      return found;
    },
  };
}

const bounds = { start: keyOfText("q"), end: keyOfText("r"), limit: 1 };

async function dequeue(attempt: Attempt): Promise<string | undefined> {
  const [first] = await attempt.readHead(bounds);
  if (first !== undefined) attempt.delete(first.key);
  return first?.text;
}

it("the next attempt starts after the deleted entries and depends on their reader", async () => {
  const state = engineWith("q1", "q2", "q3");
  const shared = new BatchChanges();
  const attempts: Attempt[] = [];
  for (const expected of ["q1", "q2", "q3", undefined]) {
    const attempt = new Attempt(state, 0n, shared);
    expect(await dequeue(attempt)).toBe(expected);
    expect([...attempt.dependencies]).toEqual(attempts.slice(-1));
    shared.share(attempt);
    attempts.push(attempt);
  }
  expect(state.scanned).toBe(3);
});

it("an entry put before the head is found, with a dependency on its writer", async () => {
  const state = engineWith("q5", "q6");
  const shared = new BatchChanges();
  const [reader, writer, next] = [0, 1, 2].map(() => new Attempt(state, 0n, shared)) as [
    Attempt,
    Attempt,
    Attempt,
  ];
  await dequeue(reader);
  shared.share(reader);
  writer.put(keyOfText("q1"), new Uint8Array(1));
  shared.share(writer);
  expect(await dequeue(next)).toBe("q1");
  expect(next.dependencies).toEqual(new Set([reader, writer]));
});

it("an attempt with its own changes scans the whole range", async () => {
  const state = engineWith("q2", "q3");
  const shared = new BatchChanges();
  const attempt = new Attempt(state, 0n, shared);
  attempt.put(keyOfText("q1"), new Uint8Array(1));
  expect(await dequeue(attempt)).toBe("q1");
  shared.share(attempt);
  expect(await dequeue(new Attempt(state, 0n, shared))).toBe("q2");
});

it("a read with an earlier end does not hide the entries after it", async () => {
  const shared = new BatchChanges();
  const early = new Attempt(engineWith(), 0n, shared);
  await early.readHead({ ...bounds, end: keyOfText("q5") });
  shared.share(early);
  expect(await dequeue(new Attempt(engineWith("q7"), 0n, shared))).toBe("q7");
});
