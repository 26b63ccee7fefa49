import type { EventsMessage, ObserveMessage } from "./messages.ts";
import type { WorkerProcess } from "./worker-process.ts";

const notObserved: ObserveMessage = { kind: "observe", isOn: false, reads: [] };

/** Passes feed events of the workers to the main worker while it has subscribers. */
export class FeedRelay {
  #observed: ObserveMessage = notObserved;
  /** Events that the main worker did not get since the last message to it. */
  #missed = 0;

  /** Starts or stops the events of the other workers. Must be called when the main worker has got
   *  its first subscriber or lost its last one, and when other objects are watched. */
  observe(message: ObserveMessage, others: readonly WorkerProcess[]): void {
    this.#observed = message;
    for (const worker of others) worker.send(message);
  }

  /** Prepares a new worker: a main worker has no subscribers yet; any other worker sends events if
   *  the main worker has subscribers. */
  join(worker: WorkerProcess, others: readonly WorkerProcess[]): void {
    if (worker.slot === 0) this.observe(notObserved, others);
    else worker.send(this.#observed);
  }

  /** Passes events to the main worker. If the main worker is too slow, the events are dropped, and
   *  the next message contains their number. */
  relay({ kind, events, missed }: EventsMessage, main: WorkerProcess | undefined): void {
    if (!this.#observed.isOn) return;
    const all = this.#missed + missed;
    const isSent = main?.relay({ kind, events, missed: all }) === true;
    this.#missed = isSent ? 0 : all + events.length;
  }
}
