import type { Clock } from "../../base/world.ts";
import type { StateView } from "../engine.ts";
import { textOfKey } from "../key-text.ts";

/** A third of `idle_in_transaction_session_timeout`. */
const pauseMilliseconds = 30_000;
/** A key that need not exist. */
const anyKey = Uint8Array.of(1);

/** Reads a key from time to time, so that the database does not end the transaction of a view that
 *  is kept for long, for example while the content of a blob is exported. Returns a function that
 *  ends it. */
export function keepActive(view: StateView, clock: Clock): () => void {
  let isEnded = false;
  let cancel = (): void => undefined;
  const wait = (): void => {
    if (!isEnded) cancel = clock.after(pauseMilliseconds, () => void read());
  };
  const read = async (): Promise<void> => {
    // The user of the view gets the error when it reads.
    await Promise.resolve(view.get(anyKey, textOfKey(anyKey))).catch(() => undefined);
    wait();
  };
  wait();
  return () => {
    isEnded = true;
    cancel();
  };
}
