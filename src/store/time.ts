import type { Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";
import type { Engine, StateReader } from "./engine.ts";
import { textOfKey } from "./key-text.ts";

/** The boot whose monotonic clock the epoch belongs to. */
const bootKey = new Uint8Array([0, 2]);

/**
 * Store time follows the monotonic clock from an epoch kept in the store, so that it is common to
 * all processes and a wall clock that jumps changes nothing. It is set to the wall clock, but never
 * back behind what was committed, by whoever opens the store first after a boot, or alone.
 */
export async function setClockOffset(
  engine: Engine,
  clock: Clock,
  isAlone: boolean,
): Promise<void> {
  const text = textOfKey(bootKey);
  await engine.commit((current) => {
    const boot = current.get(bootKey, text)?.value;
    const isThisBoot = boot !== undefined && new TextDecoder().decode(boot) === clock.bootId;
    if (isThisBoot && !isAlone) return undefined;
    const wall = clock.wall();
    const start = wall > current.ticks ? wall : current.ticks + 1n;
    const { sequence, ticks } = current;
    const value = new TextEncoder().encode(clock.bootId);
    const writes = [{ key: bootKey, text, value, revision: sequence }];
    return { sequence, ticks, epoch: start - clock.monotonic(), writes, mayUseReserve: true };
  });
}

/** Every call gives a later moment, and one after all that the reader's state has seen. */
export function storeTime(clock: Clock): (reader: StateReader) => Ticks {
  let last = 0n;
  return ({ ticks, clockOffset: epoch }) => {
    const measured = clock.monotonic() + epoch;
    const atLeast = (last > ticks ? last : ticks) + 1n;
    last = measured > atLeast ? measured : atLeast;
    return last;
  };
}
