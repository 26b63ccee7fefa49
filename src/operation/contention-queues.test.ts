import { describe, expect, it } from "vitest";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { ContentionQueues, waitingMax } from "./contention-queues.ts";

const [first, second, third] = [{ name: "1" }, { name: "2" }, { name: "3" }];

function contested() {
  const clock = manualClock();
  const contests = new ContentionQueues(clock);
  contests.leave("hot", second, true);
  contests.leave("hot", third, true);
  return { clock, contests };
}

async function isWaiting(turn: Promise<void> | undefined): Promise<boolean> {
  if (turn === undefined) return false;
  let isOver = false;
  void turn.then(() => (isOver = true));
  await new Promise((resolve) => setImmediate(resolve));
  return !isOver;
}

describe("contention queues", () => {
  it("let every client proceed while no precondition has failed", () => {
    const contests = new ContentionQueues(manualClock());
    contests.leave("calm", first, false);
    expect(contests.isEmpty).toBe(true);
    expect(contests.write("calm", first)).toBeUndefined();
  });

  it("reserve the resource for a client that failed and reads again", async () => {
    const { contests } = contested();
    expect(contests.read("hot", second)).toBeUndefined();
    const winner = contests.write("hot", first);
    const other = contests.read("hot", third);
    expect(contests.write("hot", second)).toBeUndefined();
    expect(await isWaiting(winner)).toBe(true);
    contests.leave("hot", second, false);
    expect(await isWaiting(winner)).toBe(false);
    expect(await isWaiting(other)).toBe(true);
    contests.leave("hot", first, true);
    expect(await isWaiting(other)).toBe(false);
  });

  it("do not delay clients that only read, nor other resources", () => {
    const { contests } = contested();
    expect(contests.read("hot", second)).toBeUndefined();
    expect(contests.read("hot", first)).toBeUndefined();
    expect(contests.write("other", first)).toBeUndefined();
  });

  it("end a reservation after its time limit", async () => {
    const { clock, contests } = contested();
    expect(contests.read("hot", second)).toBeUndefined();
    const winner = contests.write("hot", first);
    clock.advance(26);
    expect(await isWaiting(winner)).toBe(false);
  });

  it("grant one reservation per failure, however often the client reads", () => {
    const { clock, contests } = contested();
    expect(contests.read("hot", second)).toBeUndefined();
    clock.advance(26);
    expect(contests.read("hot", second)).toBeUndefined();
    expect(contests.write("hot", first)).toBeUndefined();
  });

  it("limit the number of waiting clients", () => {
    const { contests } = contested();
    expect(contests.read("hot", second)).toBeUndefined();
    for (let index = 0; index < waitingMax; index += 1) {
      expect(contests.write("hot", { index })).toBeInstanceOf(Promise);
    }
    expect(contests.write("hot", first)).toBeUndefined();
  });

  it("are removed after a while without conditional writes", () => {
    const { clock, contests } = contested();
    clock.advance(1001);
    expect(contests.isEmpty).toBe(true);
  });
});
