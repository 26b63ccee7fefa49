import { attempted, whenThere } from "../core/awaitable.ts";
import type { Ticks } from "../core/ticks.ts";
import type { StateReader } from "./engine.ts";
import { textOfKey, type KeyText } from "./key-text.ts";
import { scanLayers } from "./layered-scan.ts";
import type { View } from "./store.ts";

/** Whoever wants to know learns which keys were looked up. */
export function snapshotView(
  reader: StateReader,
  now: Ticks,
  seen?: (text: KeyText) => void,
): View {
  return {
    now,
    sequence: reader.sequence,
    get: (key) => {
      const text = textOfKey(key);
      seen?.(text);
      return attempted(() => whenThere(reader.get(key, text), (found) => found?.value));
    },
    range(bounds) {
      const base = reader.scan.bind(reader);
      return scanLayers({ base, changes: [] }, bounds);
    },
  };
}
