import type { Awaitable, Stamped, StateReader } from "./engine.ts";

/** A state never changes, so those who run again one after another on the same one, often for the
 *  same keys, ask the engine once. */
export function rememberedState(state: StateReader): StateReader {
  const keys = new Map<string, Awaitable<Stamped | undefined>>();
  const stretches = new Map<string, Awaitable<Stamped[]>>();
  const { sequence, ticks, epoch, turn } = state;
  return {
    sequence,
    ticks,
    epoch,
    turn,
    get: (key, text) => remembered(keys, text, () => state.get(key, text)),
    scan({ start, end, reverse }, countMax) {
      const name = `${start.length} ${end.length} ${reverse} ${countMax} ${start}${end}`;
      const bounds = { start, end, reverse };
      return remembered(stretches, name, () => state.scan(bounds, countMax));
    },
  };
}

function remembered<T>(known: Map<string, T>, name: string, ask: () => T): T {
  const found = known.get(name);
  if (found !== undefined) return found;
  const asked = ask();
  known.set(name, asked);
  return asked;
}
