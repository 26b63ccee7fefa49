import type { Pool } from "pg";
import { describe, expect, it } from "vitest";
import { manualClock, type ManualClock } from "../../../tests/harness/manual-clock.ts";
import { silentLog } from "../../../tests/harness/silent-log.ts";
import { ticksPerMillisecond, ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { DatabaseTime } from "./database-time.ts";
import { TimeKeeper } from "./time-keeper.ts";

/** The row of the table `state`, and the clock of its database. */
class StateRow {
  clock: Ticks = 1_000n * ticksPerSecond;
  shift: Ticks = 0n;
  ticks: Ticks = 0n;
  corrections = 0;
  onMeasure = (): void => undefined;

  query(text: string, [jump, seen]: readonly string[] = []): Promise<object> {
    if (text.startsWith("SELECT")) {
      this.onMeasure();
      const { ticks, shift, storeTime } = this;
      return Promise.resolve({ rows: [{ ticks, shift, clock: storeTime }] });
    }
    const isSame = this.shift === BigInt(seen ?? this.shift);
    if (isSame && jump !== undefined) {
      this.shift -= BigInt(jump);
      this.corrections += 1;
    }
    return Promise.resolve({ rowCount: isSame ? 1 : 0 });
  }

  get storeTime(): Ticks {
    return this.clock + this.shift;
  }
}

interface Node {
  readonly clock: ManualClock;
  readonly time: DatabaseTime;
  readonly keeper: TimeKeeper;
}

function newNode(state: StateRow): Node {
  const clock = manualClock();
  const time = new DatabaseTime(clock);
  const pool = state as unknown as Pool;
  return { clock, time, keeper: new TimeKeeper({ pool, clock, time, log: silentLog }) };
}

async function startedNode(state: StateRow): Promise<Node> {
  const node = newNode(state);
  await node.keeper.start(true);
  return node;
}

function settled(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** One second passes, then each node measures. */
async function oneSecond(state: StateRow, nodes: readonly Node[]): Promise<void> {
  state.clock += ticksPerSecond;
  for (const { clock } of nodes) clock.advance(1_000);
  for (const { clock, time } of nodes) {
    time.observe(state.storeTime, clock.monotonic());
    await settled();
  }
}

/** By how many milliseconds store time of the node is ahead of `expected`. */
function aheadOf({ clock, time }: Node, expected: Ticks): number {
  return Number((clock.monotonic() + time.clockOffset - expected) / ticksPerMillisecond);
}

describe("the keeper of store time", () => {
  it.each([500, 3_600_000])("follows the others after its clock stopped for %d ms", async (ms) => {
    const state = new StateRow();
    const nodes = [await startedNode(state), await startedNode(state)] as const;
    state.clock += BigInt(ms) * ticksPerMillisecond;
    nodes[1].clock.advance(ms);
    for (let seconds = 0; seconds < 10; seconds += 1) await oneSecond(state, nodes);
    expect(state.corrections).toBe(2);
    expect(state.shift).toBe(0n);
    for (const node of nodes) expect(aheadOf(node, state.clock)).toBe(0);
  });

  it("corrects a second jump soon after the first one", async () => {
    const state = new StateRow();
    const nodes = [await startedNode(state), await startedNode(state)] as const;
    for (const seconds of [-30n, 50n, 60n]) {
      state.clock += seconds * ticksPerSecond;
      await oneSecond(state, nodes);
    }
    expect(state.shift).toBe(-80n * ticksPerSecond);
    for (const node of nodes) expect(aheadOf(node, state.storeTime)).toBe(0);
  });

  it("does not follow a jump back when later times were committed", async () => {
    const state = new StateRow();
    const node = await startedNode(state);
    state.ticks = state.clock + 5n * ticksPerSecond;
    state.clock -= 30n * ticksPerSecond;
    await oneSecond(state, [node]);
    expect(state.shift).toBe(30n * ticksPerSecond);
    expect(node.time.jumps).toBe(0);
  });

  it("follows a jump ahead when later times were committed", async () => {
    const state = new StateRow();
    const node = await startedNode(state);
    state.clock += 30n * ticksPerSecond;
    state.ticks = state.clock;
    await oneSecond(state, [node]);
    expect(state.corrections).toBe(0);
    expect(aheadOf(node, state.clock)).toBe(0);
  });

  it("starts although the clock jumps all the time", async () => {
    const state = new StateRow();
    state.onMeasure = () => (state.clock += 10n * ticksPerSecond);
    const { clock, time, keeper } = newNode(state);
    time.observe(state.storeTime, clock.monotonic());
    const started = keeper.start(false).then(() => "started");
    for (let seconds = 0; seconds < 60; seconds += 1) {
      clock.advance(1_000);
      await settled();
    }
    expect(await Promise.race([started, settled()])).toBe("started");
  });
});
