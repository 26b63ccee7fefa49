import type { Awaitable, ScanBounds, Stamped, StateReader } from "./engine.ts";

/** What was found from a place on, and up to where it was looked for. */
interface Stretch {
  readonly end: string;
  readonly found: Awaitable<Stamped[]>;
}

/** A state never changes, so those who run again one after another on the same one, often for the
 *  same keys, ask the engine once. */
export function rememberedState(state: StateReader): StateReader {
  const keys = new Map<string, Awaitable<Stamped | undefined>>();
  const stretches = new Map<string, Stretch>();
  const { sequence, ticks, epoch, turn } = state;
  return {
    sequence,
    ticks,
    epoch,
    turn,
    get(key, text) {
      const known = keys.get(text);
      if (known !== undefined) return known;
      const asked = state.get(key, text);
      keys.set(text, asked);
      return asked;
    },
    scan(bounds, countMax) {
      const name = `${bounds.reverse} ${countMax} ${bounds.start}`;
      const known = stretches.get(name);
      if (known !== undefined && isAnswer(known, bounds, countMax)) return known.found;
      const found = state.scan(bounds, countMax);
      stretches.set(name, { end: bounds.end, found });
      return found;
    },
  };
}

/** A line that is read up to the present is asked for with another end each time; as long as there
 *  is more in it than is wanted, that makes no difference. */
function isAnswer({ end, found }: Stretch, bounds: ScanBounds, countMax: number): boolean {
  if (end === bounds.end) return true;
  if (bounds.reverse || found instanceof Promise || found.length < countMax) return false;
  const last = found.at(-1);
  return last !== undefined && last.text < bounds.end;
}
