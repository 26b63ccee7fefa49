import type { ContentStore } from "../content/content.ts";
import type { Clock, Log } from "../core/world.ts";
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

/** Stands in until the engines are joined to the server: every use of it is an error. */
export async function openEngines(_options: EngineOptions): Promise<Engines> {
  const absent = async (): Promise<never> => {
    throw new Error("there is no storage engine yet");
  };
  const store: Store = {
    transact: absent,
    snapshot: absent,
    watch: () => () => {},
    close: async () => {},
  };
  const content: ContentStore = {
    receive: absent,
    discard() {},
    settle: absent,
    slices() {
      throw new Error("there is no storage engine yet");
    },
    open() {
      throw new Error("there is no storage engine yet");
    },
    reclaim: async () => false,
    close: async () => {},
  };
  return { store, content, close: async () => {} };
}
