import { useCallback, useEffect, useState } from "preact/hooks";
import type { Failure, Result } from "./result.ts";

export interface Loaded<T> {
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

interface Held<T> {
  readonly value: T | undefined;
  readonly failure: Failure | undefined;
  readonly isLoading: boolean;
}

/** Loads a value when `inputs` change or `reload` is called. The response to an earlier load is
 *  discarded. */
export function useLoad<T>(
  ask: (signal: AbortSignal) => Promise<Result<T>>,
  inputs: readonly unknown[],
): Loaded<T> {
  const [round, setRound] = useState(0);
  const [held, setHeld] = useState<Held<T>>({
    value: undefined,
    failure: undefined,
    isLoading: true,
  });
  useEffect(() => setHeld({ value: undefined, failure: undefined, isLoading: true }), inputs);
  useEffect(() => {
    const abort = new AbortController();
    setHeld((before) => ({ ...before, isLoading: true }));
    const run = async (): Promise<void> => {
      const result = await ask(abort.signal);
      if (abort.signal.aborted) return;
      setHeld(
        result.ok
          ? { value: result.value, failure: undefined, isLoading: false }
          : { value: undefined, failure: result.failure, isLoading: false },
      );
    };
    void run();
    return () => abort.abort();
  }, [...inputs, round]);
  const reload = useCallback(() => setRound((before) => before + 1), []);
  return { ...held, reload };
}
