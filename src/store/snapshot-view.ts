import { tryAwaitable, mapAwaitable } from "../base/awaitable.ts";
import type { Ticks } from "../base/ticks.ts";
import type { StateReader } from "./engine.ts";
import { textOfKey } from "./key-text.ts";
import { scanLayers, readLayers } from "./layered-scan.ts";
import type { View } from "./store.ts";

/** The view of read-only work: unlike an `Attempt` it records no reads. */
export function snapshotView(reader: StateReader, now: Ticks): View {
  const layers = { base: reader.scan.bind(reader), changes: [] };
  return {
    now,
    sequence: reader.sequence,
    get: (key) =>
      tryAwaitable(() => mapAwaitable(reader.get(key, textOfKey(key)), (found) => found?.value)),
    range: (bounds) => scanLayers(layers, bounds),
    readHead: (bounds) => tryAwaitable(() => readLayers(layers, bounds, textOfKey(bounds.start))),
  };
}
