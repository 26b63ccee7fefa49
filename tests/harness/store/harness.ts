import { afterEach } from "vitest";

import type { Ticks } from "../../../src/base/ticks.ts";
import { manualClock } from "../manual-clock.ts";
import type { ManualClock } from "../manual-clock.ts";
import type { Store } from "../../../src/store/store.ts";

export interface Opened {
  readonly store: Store;
  readonly clock: ManualClock;
}

export interface NewStoreOptions {
  readonly clock: ManualClock;
  readonly snapshotAgeMax?: Ticks;
}

/** Opens an empty store, another one for each call. */
export type NewStore = (options: NewStoreOptions) => Promise<Store>;

type Open = (options?: { readonly snapshotAgeMax?: Ticks }) => Promise<Opened>;

/** Opens stores that are closed after each test. */
export function opener(newStore: NewStore): Open {
  const opened: Store[] = [];
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });
  return async (options = {}) => {
    const clock = manualClock();
    const store = await newStore({ clock, ...options });
    opened.push(store);
    return { store, clock };
  };
}

export const racers = 64;

export const times = <T>(count: number, run: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)));

/** A promise that a test resolves, to stop a transaction at a chosen point. */
export function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}
