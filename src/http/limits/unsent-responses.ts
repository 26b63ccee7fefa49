import { ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";

/** The part of Node's response that this module uses. */
interface OutgoingResponse {
  once(event: "close", run: () => void): unknown;
  destroy(): unknown;
}

interface Unsent {
  readonly bytes: number;
  readonly since: Ticks;
}

/** A response that a client has not received after this time may be ended for another one. */
const slowSeconds = 10n;

/** The large responses in memory that clients have not received completely. Clients that request
 *  listings and do not read them must not exhaust the memory. */
export class UnsentResponses {
  readonly #clock: Clock;
  readonly #bytesMax: number;
  /** In the order of their start. */
  readonly #sending = new Map<OutgoingResponse, Unsent>();
  #bytes = 0;

  constructor(clock: Clock, bytesMax: number) {
    this.#clock = clock;
    this.#bytesMax = bytesMax;
  }

  /** Counts a response until it is sent or its connection is closed. */
  add(response: OutgoingResponse, bytes: number): void {
    this.#sending.set(response, { bytes, since: this.#clock.monotonic() });
    this.#bytes += bytes;
    response.once("close", () => this.#remove(response));
  }

  /** Whether a further large response may be built. If there is no room, closes the connections of
   *  clients that have been reading for long, the oldest first. */
  makeRoom(): boolean {
    const slowSince = this.#clock.monotonic() - slowSeconds * ticksPerSecond;
    for (const [response, { since }] of this.#sending) {
      if (this.#bytes < this.#bytesMax || since > slowSince) break;
      this.#remove(response);
      response.destroy();
    }
    return this.#bytes < this.#bytesMax;
  }

  #remove(response: OutgoingResponse): void {
    const unsent = this.#sending.get(response);
    if (unsent === undefined) return;
    this.#sending.delete(response);
    this.#bytes -= unsent.bytes;
  }
}
