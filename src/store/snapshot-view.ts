import { attempted, whenThere } from "../core/awaitable.ts";
import type { Ticks } from "../core/ticks.ts";
import type { StateReader } from "./engine.ts";
import { textOfKey } from "./key-text.ts";
import { scanLayers } from "./layered-scan.ts";
import type { View } from "./store.ts";

export function snapshotView(reader: StateReader, now: Ticks): View {
  return {
    now,
    sequence: reader.sequence,
    get: (key) =>
      attempted(() => whenThere(reader.get(key, textOfKey(key)), (found) => found?.value)),
    range(bounds) {
      const base = reader.scan.bind(reader);
      return scanLayers({ base, changes: [] }, bounds);
    },
  };
}
