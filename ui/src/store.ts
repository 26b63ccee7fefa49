import { useEffect, useState } from "preact/hooks";

/** A value outside components that notifies them of changes. */
interface Store<T> {
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
    // The value may have changed between the first render and this effect.
    refresh();
    return store.subscribe(refresh);
  }, [store]);
  return value;
}
