import type { ContentStore } from "../content/content.ts";
import type { Clock, Log } from "../core/world.ts";
import { openMemoryStore } from "../store/memory/open-memory-store.ts";
import type { Store } from "../store/store.ts";

export interface EngineOptions {
  /** Nothing is written to disk without one. */
  readonly folder: string | undefined;
  /** How much content stays in memory without a folder. */
  readonly memoryBytesMax: number | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Where records and bytes are kept. */
export interface Engines {
  readonly store: Store;
  readonly content: ContentStore;
  close(): Promise<void>;
}

/** Content stands in until it is joined to the server: every use of it is an error. */
export async function openEngines({ clock }: EngineOptions): Promise<Engines> {
  const store = openMemoryStore({ clock });
  const absent = (): never => {
    throw new Error("there is no content store yet");
  };
  const content: ContentStore = {
    receive: absent,
    discard() {},
    settle: absent,
    slices: absent,
    open: absent,
    reclaim: async () => false,
    close: async () => {},
  };
  return { store, content, close: () => store.close() };
}
