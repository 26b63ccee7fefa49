import { mapAwaitable } from "../base/awaitable.ts";
import type { Awaitable, EngineReader, ScanBounds, VersionedEntry, StateReader } from "./engine.ts";
import type { KeyText } from "./key-text.ts";

/** All that lies from `start` up to `end`. */
interface Stretch {
  readonly start: KeyText;
  end: KeyText;
  readonly entries: VersionedEntry[];
}

const stretchesMax = 64;
/** Who reads along a stretch is going to read further: it is read ahead as far as it has come. */
const readAheadMax = 256;

/** A state never changes, so those who look at the same one after another, often for the same keys,
 *  ask the engine once. */
export function cachingReader(state: EngineReader): EngineReader;
export function cachingReader(state: StateReader): StateReader;
export function cachingReader(state: StateReader): StateReader {
  const keys = new Map<KeyText, Awaitable<VersionedEntry | undefined>>();
  const stretches: Stretch[] = [];
  const { sequence, ticks, clockOffset: epoch, priorityOwner: turn } = state;
  return {
    sequence,
    ticks,
    clockOffset: epoch,
    priorityOwner: turn,
    get(key, text) {
      const known = keys.get(text);
      if (known !== undefined) return known;
      const asked = state.get(key, text);
      keys.set(text, asked);
      return asked;
    },
    scan(bounds, countMax) {
      if (bounds.reverse || bounds.start >= bounds.end) return state.scan(bounds, countMax);
      const stretch = stretchAt(stretches, bounds.start);
      return stretch === undefined
        ? state.scan(bounds, countMax)
        : readAlong(state, stretch, bounds, countMax);
    },
  };
}

/** The one that reaches the place, or a new one that begins there. */
function stretchAt(stretches: Stretch[], place: KeyText): Stretch | undefined {
  const known = stretches.find(({ start, end }) => start <= place && place <= end);
  if (known !== undefined || stretches.length >= stretchesMax) return known;
  const begun = { start: place, end: place, entries: [] };
  stretches.push(begun);
  return begun;
}

function readAlong(
  state: StateReader,
  stretch: Stretch,
  bounds: ScanBounds,
  countMax: number,
): Awaitable<VersionedEntry[]> {
  const { end, entries } = stretch;
  const from = placeIn(entries, bounds.start);
  const to = Math.min(placeIn(entries, bounds.end), from + countMax);
  const missing = countMax - (to - from);
  if (missing === 0 || end >= bounds.end) return entries.slice(from, to);
  const wanted = Math.max(missing, Math.min(entries.length, readAheadMax));
  const found = state.scan({ start: end, end: bounds.end, reverse: false }, wanted);
  return mapAwaitable(found, (further) => {
    // Somebody else may have come first, if the state is far away.
    if (stretch.end === end) {
      entries.push(...further);
      stretch.end = further.length < wanted ? bounds.end : `${further.at(-1)?.text}\0`;
    }
    return readAlong(state, stretch, bounds, countMax);
  });
}

/** The index of the first entry that is not before `text`. */
function placeIn(entries: readonly VersionedEntry[], text: KeyText): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (entries[middle]!.text < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
