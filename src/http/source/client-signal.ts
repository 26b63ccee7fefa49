import { setMaxListeners } from "node:events";
import { memoByObject } from "../../process/memo.ts";
import { BodyAborted } from "../request/request-body.ts";
import type { ClientConnection, WireRequest } from "../wire.ts";

/** One signal per connection, created with the first copy source: few requests have one, and a
 *  connection may have many requests in progress. */
const signalOf = memoByObject((connection: ClientConnection): AbortSignal => {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  if (connection.destroyed) controller.abort();
  else connection.once("close", () => controller.abort());
  return controller.signal;
});

/** Aborted when the client closes its connection; undefined without a connection. */
export function clientSignal({ connection }: WireRequest): AbortSignal | undefined {
  return connection === undefined ? undefined : signalOf(connection);
}

/** Throws if the client has disconnected, so that nothing more is read for it. */
export function requireClient(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new BodyAborted("the client closed during a source read");
}

/** Passes the chunks of a source while the client is connected. */
export async function* whileConnected(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    requireClient(signal);
    yield chunk;
  }
}
