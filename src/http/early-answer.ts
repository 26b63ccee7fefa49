import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../base/world.ts";
import type { WireBody, WireResponse } from "./wire.ts";

/**
 * An answer given before the body has arrived. A connection that is closed while the client sends
 * is reset, and the answer may be lost with it: a little of the body is taken in first.
 */
const drainBytesMax = 1024 * 1024;
const drainMillisecondsMax = 2000;

/** An answer of known length is complete for the client before it is ended here. */
export interface WholeReply extends WireResponse {
  readonly body: Exclude<WireBody, { kind: "stream" }> | undefined;
}

/** A client that waits for `100 Continue` sends no body after another answer. */
export function maySendMore(
  { headers, method }: IncomingMessage,
  reply: WireResponse,
): reply is WholeReply {
  if (headers.expect !== undefined || method === "HEAD") return false;
  return reply.headers["Content-Length"] !== undefined && reply.body?.kind !== "stream";
}

/** Ends the answer, and with it the connection, when the client has stopped sending, has sent a
 *  little more or has had some time. */
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

/** Takes in what comes, up to a bound. */
export function drain(request: IncomingMessage, stop: () => void = () => request.destroy()): void {
  let taken = 0;
  request.on("data", (chunk: Buffer) => {
    taken += chunk.length;
    if (taken > drainBytesMax) stop();
  });
  request.on("error", () => {});
  request.resume();
}
