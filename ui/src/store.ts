import { useEffect, useState } from "preact/hooks";

/** A value that outlives components and tells them when it is another. */
export interface Store<T> {
  get(): T;
  set(next: T): void;
  update(change: (present: T) => T): void;
  subscribe(listener: () => void): () => void;
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  const set = (next: T): void => {
    if (Object.is(next, value)) return;
    value = next;
    for (const listener of listeners) listener();
  };
  return {
    get: () => value,
    set,
    update: (change) => set(change(value)),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState<T>(() => store.get());
  useEffect(() => {
    const refresh = (): void => setValue(() => store.get());
    // It may have changed between the first drawing and this effect.
    refresh();
    return store.subscribe(refresh);
  }, [store]);
  return value;
}
