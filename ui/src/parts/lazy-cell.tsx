import type { JSX } from "preact";
import { useLoad } from "../load.ts";
import type { Result } from "../result.ts";

interface LazyCellProps {
  /** Identifies the value: another one is loaded if it changes. */
  readonly of: string;
  readonly load: (signal: AbortSignal) => Promise<Result<string>>;
}

/** A value that is loaded when its row is shown, so that a long list costs no more than a short
 *  one. */
export function LazyCell({ of, load }: LazyCellProps): JSX.Element {
  const loaded = useLoad(load, [of]);
  return <span class="soft">{loaded.value ?? (loaded.failure === undefined ? "" : "–")}</span>;
}
