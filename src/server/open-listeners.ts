import type { Listener } from "./listener.ts";

type OpenListener = Pick<Listener, "drain" | "stop" | "unref">;

/** Time for running requests to complete when the server stops. */
const graceMilliseconds = 10_000;
/** Time for idle connections of a replaced worker to end by themselves. */
const drainMillisecondsMax = 30_000;

/** The listeners of a running server. */
export class OpenListeners {
  readonly #all: OpenListener[] = [];

  add(listener: OpenListener): void {
    this.#all.push(listener);
  }

  async drain(): Promise<void> {
    await Promise.all(this.#all.map((listener) => listener.drain(drainMillisecondsMax)));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((listener) => listener.stop(graceMilliseconds)));
  }

  /** Lets the process end while the server runs. */
  unref(): void {
    for (const listener of this.#all) listener.unref();
  }
}
