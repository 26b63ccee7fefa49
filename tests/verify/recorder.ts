import type { HistoryEvent } from "./history.ts";

/** The request was not sent, so it had no effect. */
export class NeverSent extends Error {}

/** Monotonic microseconds, the same for all processes of a machine. */
export function monotonicMicroseconds(): number {
  return Number(process.hrtime.bigint() / 1000n);
}

export interface Called {
  readonly workload: string;
  readonly key: string;
  readonly input: object;
}

/** Records each call before it is made, so that the history of a killed client is complete. */
export class Recorder {
  readonly #client: string;
  readonly #write: (event: HistoryEvent) => void;
  readonly #now: () => number;
  #calls = 0;

  constructor(
    client: string,
    write: (event: HistoryEvent) => void,
    now: () => number = monotonicMicroseconds,
  ) {
    this.#client = client;
    this.#write = write;
    this.#now = now;
  }

  /** Undefined without a response. */
  async record<Output extends object>(
    called: Called,
    run: () => Promise<Output>,
  ): Promise<Output | undefined> {
    this.#calls += 1;
    const id = `${this.#client}.${this.#calls}`;
    this.#write({ event: "call", id, ...called, time: this.#now() });
    try {
      const output = await run();
      this.#write({ event: "return", id, output, time: this.#now() });
      return output;
    } catch (error) {
      if (error instanceof NeverSent) this.#write({ event: "never", id });
      else this.#write({ event: "unknown", id, time: this.#now() });
      return undefined;
    }
  }
}
