import { setMaxListeners } from "node:events";
import { BodyAborted } from "../request-body.ts";
import type { ClientConnection, WireRequest } from "../wire.ts";

/** One per connection, made with its first source: few requests have one, and a connection may
 *  have many requests under way. */
const signals = new WeakMap<ClientConnection, AbortSignal>();

/** Aborted when the connection of the client closes; undefined where there is none. */
export function clientSignal({ connection }: WireRequest): AbortSignal | undefined {
  if (connection === undefined) return undefined;
  const known = signals.get(connection);
  if (known !== undefined) return known;
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  if (connection.destroyed) controller.abort();
  else connection.once("close", () => controller.abort());
  signals.set(connection, controller.signal);
  return controller.signal;
}

/** Throws if the client has disconnected: nothing more is read for it, and no answer is sent. */
export function requireClient(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new BodyAborted("the client closed during a source read");
}

/** The chunks of a source as long as its client is connected. */
export async function* whileConnected(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    requireClient(signal);
    yield chunk;
  }
}
