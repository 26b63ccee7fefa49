import { expect, it } from "vitest";
import { runInBackground } from "./background.ts";
import { simWorld } from "../../tests/harness/sim-world.ts";

/** Lets pending promises and timers of the current round complete. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

it("continues at once while a task has more work, else waits", async () => {
  const { clock, log } = simWorld(1);
  let left = 3;
  let rounds = 0;
  const round = async (): Promise<boolean> => {
    rounds += 1;
    left -= 1;
    return left > 0;
  };
  const background = runInBackground([{ name: "count", round }], { clock, log });
  clock.advance(5_000);
  await settle();
  for (let step = 0; step < 10; step++) {
    clock.advance(10);
    await settle();
  }
  expect(rounds).toBe(3);
  clock.advance(5_000);
  await settle();
  expect(rounds).toBe(4);
  await background.stop();
  clock.advance(60_000);
  expect(rounds).toBe(4);
});

it("logs a failed task, runs the others, and retries it", async () => {
  const { clock, log } = simWorld(1);
  let done = 0;
  const chores = [
    { name: "broken", round: () => Promise.reject(new Error("no")) },
    {
      name: "sound",
      round: async () => {
        done += 1;
        return false;
      },
    },
  ];
  const background = runInBackground(chores, { clock, log });
  for (let turn = 0; turn < 2; turn++) {
    clock.advance(5_000);
    await settle();
  }
  expect(done).toBe(2);
  expect(log.lines.map(({ level }) => level)).toEqual(["warn", "warn"]);
  await background.stop();
});
