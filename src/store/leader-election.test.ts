import { expect, it } from "vitest";

import { openLeaderElection } from "./leader-election.ts";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { openMemoryStore } from "./memory/open-memory-store.ts";
import { silentLog } from "../../tests/harness/silent-log.ts";

function openTwo() {
  const clock = manualClock();
  const store = openMemoryStore({ clock, log: silentLog });
  const running = new Set(["one", "other"]);
  const owners = () => Promise.resolve(running);
  const [one, other] = ["one", "other"].map((self) =>
    openLeaderElection({ store, name: "sweeping", self, owners }),
  ) as [() => Promise<boolean>, () => Promise<boolean>];
  return { clock, running, one, other };
}

it("elects one of several concurrent candidates", async () => {
  const { one, other } = openTwo();
  const answers = await Promise.all([one(), other(), one(), other()]);
  expect(answers.filter(Boolean).length).toBeGreaterThan(0);
  expect([await one(), await other()].filter(Boolean)).toHaveLength(1);
});

it("keeps the leader that renews its term", async () => {
  const { clock, one, other } = openTwo();
  for (let round = 0; round < 30; round += 1) {
    expect(await one()).toBe(true);
    clock.advance(5_000);
    expect(await other()).toBe(false);
  }
});

it("replaces a leader that has ended or no longer renews its term", async () => {
  const { clock, running, one, other } = openTwo();
  expect(await one()).toBe(true);
  running.delete("one");
  expect(await other()).toBe(true);
  running.add("one");
  expect(await one()).toBe(false);
  clock.advance(31_000);
  expect(await one()).toBe(true);
  expect(await other()).toBe(false);
});
