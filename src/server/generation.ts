import type { IncomingMessage, ServerResponse } from "node:http";
import type { ServiceName } from "../core/operation.ts";
import type { Clock } from "../core/world.ts";
import type { Engines } from "./engines.ts";
import type { Handler } from "./listener.ts";

/** The engines between two resets, and the requests that still use them. */
export class Generation {
  readonly engines: Engines;
  readonly #handlers: ReadonlyMap<ServiceName, Handler>;
  #running = 0;
  #whenIdle: (() => void) | undefined;

  constructor(engines: Engines, handlers: ReadonlyMap<ServiceName, Handler>) {
    this.engines = engines;
    this.#handlers = handlers;
  }

  handle(service: ServiceName, request: IncomingMessage, response: ServerResponse): void {
    this.#running += 1;
    response.once("close", this.#finished);
    this.#handlers.get(service)?.(request, response);
  }

  readonly #finished = (): void => {
    this.#running -= 1;
    if (this.#running === 0) this.#whenIdle?.();
  };

  /** Closes the engines once the last request is through, at the latest after the bound. */
  async retire(clock: Clock, graceMilliseconds: number): Promise<void> {
    if (this.#running > 0) {
      await new Promise<void>((resolve) => {
        const cancel = clock.after(graceMilliseconds, resolve);
        this.#whenIdle = () => {
          cancel();
          resolve();
        };
      });
    }
    await this.engines.close();
  }
}
