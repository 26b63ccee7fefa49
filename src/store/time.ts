import type { Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import type { Engine, StateReader } from "./engine.ts";
import { textOfKey } from "./key-text.ts";

/** Key of the id of the boot that the clock offset belongs to. */
const bootKey = new Uint8Array([0, 2]);

/** Store time is the monotonic clock plus an offset kept in the store. It is therefore common to
 *  all processes, and a jump of the wall clock does not change it. The first process after a boot,
 *  or a process that has the store for itself, sets the offset from the wall clock, but never
 *  before the latest committed time. */
export async function setClockOffset(
  engine: Engine,
  clock: Clock,
  isExclusive: boolean,
): Promise<void> {
  const text = textOfKey(bootKey);
  await engine.commit((current) => {
    const boot = current.get(bootKey, text)?.value;
    const isThisBoot = boot !== undefined && new TextDecoder().decode(boot) === clock.bootId;
    if (isThisBoot && !isExclusive) return undefined;
    const wall = clock.wall();
    const start = wall > current.ticks ? wall : current.ticks + 1n;
    const { sequence, ticks } = current;
    const value = new TextEncoder().encode(clock.bootId);
    const writes = [{ key: bootKey, text, value, revision: sequence }];
    return { sequence, ticks, clockOffset: start - clock.monotonic(), writes, mayUseReserve: true };
  });
}

/** Returns a function whose results strictly increase and are later than every commit of the given
 *  state. */
export function storeTime(clock: Clock): (reader: StateReader) => Ticks {
  let last = 0n;
  return ({ ticks, clockOffset }) => {
    const measured = clock.monotonic() + clockOffset;
    const atLeast = (last > ticks ? last : ticks) + 1n;
    last = measured > atLeast ? measured : atLeast;
    return last;
  };
}
