import { expect, it } from "vitest";

import { ticksPerSecond } from "../base/ticks.ts";
import type { VersionedEntry, StateView } from "./engine.ts";
import { keyOfText } from "../encoding/keys.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { OpenViews } from "./open-views.ts";

const options = { clock: manualClock(), snapshotAgeMax: 60n * ticksPerSecond };

function countingView(valueBytes: number): StateView & { gets: number } {
  return {
    sequence: 1,
    ticks: 0n,
    clockOffset: 0n,
    priorityOwner: 0,
    gets: 0,
    get(key, text): VersionedEntry {
      this.gets += 1;
      return { key, text, value: new Uint8Array(valueBytes), revision: 1 };
    },
    scan: () => [],
    close: () => undefined,
  };
}

it.each([
  ["the users of a shared view read a small record once", { users: 2, valueBytes: 100, gets: 1 }],
  ["a long value is not cached", { users: 2, valueBytes: 2000, gets: 2 }],
  ["a view with one user caches nothing", { users: 1, valueBytes: 100, gets: 2 }],
])("%s", async (_name, { users, valueBytes, gets }) => {
  const inner = countingView(valueBytes);
  const view = new OpenViews(options).track(inner, users);
  const [first, second] = [
    await view.get(keyOfText("a"), "a"),
    await view.get(keyOfText("a"), "a"),
  ];
  expect(second).toEqual(first);
  expect(inner.gets).toBe(gets);
  view.expire(new Error("over"));
  expect(() => view.get(keyOfText("a"), "a")).toThrow("over");
});
