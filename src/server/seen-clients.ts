import type { IncomingMessage } from "node:http";
import { formatIso } from "../base/dates.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Clock } from "../base/world.ts";

/** A client program that has sent requests to this process. */
interface SeenClient {
  /** Its `User-Agent`. */
  readonly agent: string;
  /** The `x-ms-version` that it sent; undefined if it sent none. */
  readonly version: string | undefined;
  readonly seenAt: string;
}

const clientsMax = 50;
const agentUnitsMax = 200;

/** The client programs of the latest connections, for `etagere doctor`. Only the first request of a
 *  connection counts: the others are of the same program. */
export class SeenClients {
  readonly #clock: Clock;
  readonly #known = new WeakSet<object>();
  /** Ordered by last use. */
  readonly #clients = new Map<string, { readonly client: SeenClient; readonly at: Ticks }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly note = ({ socket, headers }: IncomingMessage): void => {
    if (this.#known.has(socket)) return;
    this.#known.add(socket);
    const agent = (headers["user-agent"] ?? "unknown").slice(0, agentUnitsMax);
    const given = headers["x-ms-version"];
    const version = typeof given === "string" ? given.slice(0, agentUnitsMax) : undefined;
    const name = `${agent} ${version ?? ""}`;
    const at = this.#clock.wall();
    this.#clients.delete(name);
    this.#clients.set(name, { client: { agent, version, seenAt: formatIso(at) }, at });
    const [oldest] = this.#clients.keys();
    if (this.#clients.size > clientsMax && oldest !== undefined) this.#clients.delete(oldest);
  };

  /** Latest first. */
  list(): readonly SeenClient[] {
    return [...this.#clients.values()].map(({ client }) => client).toReversed();
  }
}
