import type { EventsMessage } from "./messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

/** Passes feed events of the workers to the main worker while it has subscribers. */
export class FeedRelay {
  #isObserving = false;
  /** Events that the main worker did not get since the last message to it. */
  #missed = 0;

  /** Starts or stops the events of the other workers. Must be called when the main worker has got
   *  its first subscriber or lost its last one. */
  observe(isOn: boolean, others: readonly WorkerProcess[]): void {
    this.#isObserving = isOn;
    for (const worker of others) worker.send({ kind: "observe", isOn });
  }

  /** Prepares a new worker: a main worker has no subscribers yet; any other worker sends events if
   *  the main worker has subscribers. */
  join(worker: WorkerProcess, others: readonly WorkerProcess[]): void {
    if (worker.slot === 0) this.observe(false, others);
    else worker.send({ kind: "observe", isOn: this.#isObserving });
  }

  /** Passes events to the main worker. If the main worker is too slow, the events are dropped, and
   *  the next message contains their number. */
  relay({ kind, events, missed }: EventsMessage, main: WorkerProcess | undefined): void {
    if (!this.#isObserving) return;
    const all = this.#missed + missed;
    const isSent = main?.relay({ kind, events, missed: all }) === true;
    this.#missed = isSent ? 0 : all + events.length;
  }
}
