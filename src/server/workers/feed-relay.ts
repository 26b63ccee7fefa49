import type { EventsMessage } from "./messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Passes feed events of the workers to the main worker while it has subscribers. */
export class FeedRelay {
  #isObserving = false;
  #missed = 0;

  /** The main worker has got its first subscriber, or lost its last one. */
  observe(isOn: boolean, others: readonly WorkerProcess[]): void {
    this.#isObserving = isOn;
    for (const worker of others) worker.send({ kind: "observe", isOn });
  }

  /** A new main worker has no subscribers yet; another new worker may have to be observed. */
  join(worker: WorkerProcess, others: readonly WorkerProcess[]): void {
    if (worker.slot === 0) this.observe(false, others);
    else worker.send({ kind: "observe", isOn: this.#isObserving });
  }

  /** A main worker that is too slow misses the events, and is sent their number later. */
  relay({ kind, events, missed }: EventsMessage, main: WorkerProcess | undefined): void {
    if (!this.#isObserving) return;
    const all = this.#missed + missed;
    const isSent = main?.relay({ kind, events, missed: all }) === true;
    this.#missed = isSent ? 0 : all + events.length;
  }
}
