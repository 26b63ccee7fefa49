import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests of one connection that came before the answer to an earlier one has left: so many, and
 *  the connection is not read from until most of them are answered. Node reads and answers all that
 *  a client has sent in one turn of the event loop. */
export const pipelinedMax = 32;
const pipelinedLow = 8;

interface Pipeline {
  count: number;
  isPaused: boolean;
}

const pipeline = Symbol("pipeline");

/** Node's own mark of a connection that is not read from, which it does not publish: without it, it
 *  resumes a socket as soon as a body is read. */
const nodePaused = "_paused";

interface PipeliningSocket extends Socket {
  [pipeline]?: Pipeline;
  [nodePaused]?: boolean;
  readonly parser?: { resume(): void } | null;
}

/** For each request, before it is served. */
export function boundPipelining(request: IncomingMessage, response: ServerResponse): void {
  // Only an answer that has to wait for an earlier one has no socket yet.
  if (response.socket !== null) return;
  const socket = request.socket as PipeliningSocket;
  const pending = (socket[pipeline] ??= { count: 0, isPaused: false });
  pending.count += 1;
  response.on("finish", leave);
  // Node resumes by itself when what was written has left.
  if (pending.count < pipelinedMax || socket[nodePaused] === true) return;
  pending.isPaused = true;
  socket[nodePaused] = true;
  socket.pause();
}

function leave(this: ServerResponse): void {
  const socket = this.req.socket as PipeliningSocket;
  const pending = socket[pipeline];
  if (pending === undefined) throw new Error("an answer was not counted");
  pending.count -= 1;
  if (pending.count > pipelinedLow || !pending.isPaused) return;
  pending.isPaused = false;
  // Within this turn Node would go on reading at once.
  setImmediate(resume, socket);
}

function resume(socket: PipeliningSocket): void {
  socket[nodePaused] = false;
  socket.parser?.resume();
  socket.resume();
}
