import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../base/world.ts";
import type { WireBody, WireResponse } from "./wire.ts";

/** Limits of what is received after a response that is sent before the body has arrived. Closing
 *  the connection while the client sends would reset it, and the client might lose the response. So
 *  up to 1 MiB or 2 s of the body is received first. */
const drainBytesMax = 1024 * 1024;
const drainMillisecondsMax = 2000;

/** A response of known length, which the client can receive completely before the connection is
 *  closed. */
export interface WholeReply extends WireResponse {
  readonly body: Exclude<WireBody, { kind: "stream" }> | undefined;
}

/** Whether the client may still send its body; it does not if it waits for `100 Continue`. */
export function maySendMore(
  { headers, method }: IncomingMessage,
  reply: WireResponse,
): reply is WholeReply {
  if (headers.expect !== undefined || method === "HEAD") return false;
  return reply.headers["Content-Length"] !== undefined && reply.body?.kind !== "stream";
}

/** Ends the response, and then the connection, when the client has stopped sending, has sent 1 MiB
 *  more, or after 2 s. */
export function endAfterBody(
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock,
): void {
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    cancel();
    response.end();
  };
  const cancel = clock.after(drainMillisecondsMax, end);
  request.on("end", end);
  request.on("close", end);
  drain(request, end);
}

/** Receives and discards up to 1 MiB, then calls `stop`. */
export function drain(request: IncomingMessage, stop: () => void = () => request.destroy()): void {
  let received = 0;
  request.on("data", (chunk: Buffer) => {
    received += chunk.length;
    if (received > drainBytesMax) stop();
  });
  request.on("error", () => {});
  request.resume();
}
