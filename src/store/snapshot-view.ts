import type { Ticks } from "../core/ticks.ts";
import type { EngineReader } from "./engine.ts";
import { textOfKey } from "./key-text.ts";
import { scanLayers } from "./layered-scan.ts";
import type { View } from "./store.ts";

export function snapshotView(reader: EngineReader, now: Ticks): View {
  return {
    now,
    sequence: reader.sequence,
    async get(key) {
      return reader.get(key, textOfKey(key))?.value;
    },
    range(bounds) {
      const base = reader.scan.bind(reader);
      return scanLayers({ base, changes: [] }, bounds);
    },
  };
}
