import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Most pipelined requests of a connection. At this number the connection is not read until most of
 *  them are answered. Otherwise Node would read and serve everything that a client has sent in one
 *  event-loop iteration. */
export const pipelinedMax = 32;
const pipelinedLow = 8;

interface Pipeline {
  count: number;
  isPaused: boolean;
}

const pipeline = Symbol("pipeline");

/** Node's private flag of a paused connection. Without it, Node would resume the socket as soon as
 *  a body is read. */
const nodePaused = "_paused";

interface PipeliningSocket extends Socket {
  [pipeline]?: Pipeline;
  [nodePaused]?: boolean;
  readonly parser?: { resume(): void } | null;
}

/** Called for each request before it is served. Pauses the connection if it has too many pipelined
 *  requests. */
export function boundPipelining(request: IncomingMessage, response: ServerResponse): void {
  // Only a response that must wait for an earlier one has no socket yet.
  if (response.socket !== null) return;
  const socket = request.socket as PipeliningSocket;
  const pending = (socket[pipeline] ??= { count: 0, isPaused: false });
  pending.count += 1;
  response.on("finish", leave);
  // Node resumes by itself when the written data was sent.
  if (pending.count < pipelinedMax || socket[nodePaused] === true) return;
  pending.isPaused = true;
  socket[nodePaused] = true;
  socket.pause();
}

function leave(this: ServerResponse): void {
  const socket = this.req.socket as PipeliningSocket;
  const pending = socket[pipeline];
  if (pending === undefined) throw new Error("a pipelined response was not counted");
  pending.count -= 1;
  if (pending.count > pipelinedLow || !pending.isPaused) return;
  pending.isPaused = false;
  // In this iteration Node would continue reading at once.
  setImmediate(resume, socket);
}

function resume(socket: PipeliningSocket): void {
  socket[nodePaused] = false;
  socket.parser?.resume();
  socket.resume();
}
