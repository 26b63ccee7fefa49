import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../base/world.ts";

/** Limits of connections, of all listeners of a process together: their number, slow senders of
 *  bodies, and pipelined requests. Without them a few clients could use up the memory or all
 *  connections of the server. */

/** The progress of a request body, for the check that ends slow clients. */
export interface BodyProgress {
  /** Whether the server waits for bytes of the client; false while it does not read, for example
   *  until earlier bytes are stored. */
  readonly isWaiting: boolean;
  /** Number of bytes received so far. */
  readonly bytes: number;
  /** Ends the request because the client is too slow. */
  end(): void;
}

const reading = Symbol("reading");
const surplus = Symbol("surplus");

interface WatchedSocket extends Socket {
  [reading]?: BodyProgress | undefined;
  [surplus]?: true;
}

/** Registers the request body that arrives on this socket for the check of slow clients; undefined
 *  when the body has ended. */
export function setReading(socket: Socket, body: BodyProgress | undefined): void {
  (socket as WatchedSocket)[reading] = body;
}

/** Whether the connection exceeds the limit, so that its requests get 503. */
export function isSurplus(socket: Socket): boolean {
  return (socket as WatchedSocket)[surplus] === true;
}

interface ConnectionLimits {
  readonly clock: Clock;
  /** Most connections of all listeners together; requests of further ones get 503. */
  readonly connectionsMax: number;
}

/** Within each period of this length a body must receive `progressBytesMin` or end. Slower clients
 *  are disconnected within two periods. */
export const progressMilliseconds = 30_000;
export const progressBytesMin = 16 * 1024;
/** Connections beyond the limit that are accepted to get 503, as a fraction of the limit, and their
 *  least number. Further connections are closed at once. */
const surplusPart = 0.25;
const surplusMin = 64;

/** Counts the connections of all listeners, and ends request bodies that arrive too slowly. */
export class Connections {
  readonly #clock: Clock;
  readonly #connectionsMax: number;
  readonly #closedBeyond: number;
  readonly #open = new Set<WatchedSocket>();
  /** TLS sockets of connections in `#open`. A request refers to its TLS socket, so the check for
   *  slow bodies looks here, too. */
  readonly #secure = new Set<WatchedSocket>();
  /** Bytes of each body that had arrived at the last check. A body that has received less than
   *  `progressBytesMin` since then is ended. */
  #seen = new Map<BodyProgress, number>();
  #cancel: (() => void) | undefined;

  constructor({ clock, connectionsMax }: ConnectionLimits) {
    this.#clock = clock;
    this.#connectionsMax = connectionsMax;
    this.#closedBeyond = connectionsMax + Math.max(surplusMin, connectionsMax * surplusPart);
  }

  get count(): number {
    return this.#open.size;
  }

  /** Registers a new connection. Returns false if it exceeds the limit. */
  add(socket: Socket): boolean {
    const isRoom = this.#open.size < this.#connectionsMax;
    if (!isRoom) (socket as WatchedSocket)[surplus] = true;
    if (this.#open.size >= this.#closedBeyond) {
      socket.destroy();
      return false;
    }
    this.#open.add(socket);
    socket.once("close", () => this.#remove(socket));
    this.#cancel ??= this.#clock.after(progressMilliseconds, () => this.#endSlowBodies());
    return isRoom;
  }

  /** Adds the TLS socket of a connection after the handshake: requests refer to it and not to the
   *  socket that `add` got. Marks it as surplus while there are too many connections, as `add`
   *  does. */
  addSecure(socket: Socket): void {
    if (this.#open.size > this.#connectionsMax) (socket as WatchedSocket)[surplus] = true;
    this.#secure.add(socket);
    socket.once("close", () => this.#secure.delete(socket));
  }

  #remove(socket: Socket): void {
    this.#open.delete(socket);
    if (this.#open.size > 0) return;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #endSlowBodies(): void {
    const seen = new Map<BodyProgress, number>();
    const tooSlow: BodyProgress[] = [];
    for (const { [reading]: body } of [...this.#open, ...this.#secure]) {
      if (body === undefined || !body.isWaiting) continue;
      const before = this.#seen.get(body);
      if (before !== undefined && body.bytes - before < progressBytesMin) tooSlow.push(body);
      else seen.set(body, body.bytes);
    }
    this.#seen = seen;
    this.#cancel = this.#clock.after(progressMilliseconds, () => this.#endSlowBodies());
    for (const body of tooSlow) body.end();
  }
}

/** Most pipelined requests of a connection (sent before the response to an earlier one). At this
 *  number the connection is not read until most of them are answered. Otherwise Node would read and
 *  serve everything that a client has sent in one event-loop iteration. */
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

/** Called for each request before it is served. Pauses a connection with too many pipelined
 *  requests. */
export function boundPipelining(
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock,
): void {
  // Node assigns the socket at once unless the response waits for an earlier one of the connection:
  // only then is the request pipelined.
  if (response.socket !== null) return;
  const socket = request.socket as PipeliningSocket;
  const pending = (socket[pipeline] ??= { count: 0, isPaused: false });
  pending.count += 1;
  response.on("finish", () => leave(socket, clock));
  // A socket that Node has paused, because written data waits, is resumed by Node itself.
  if (pending.count < pipelinedMax || socket[nodePaused] === true) return;
  pending.isPaused = true;
  socket[nodePaused] = true;
  socket.pause();
}

/** Whether requests of the connection wait for the response to an earlier one. A stop of the server
 *  closes such a connection only after them. */
export function hasPipelined(socket: Socket): boolean {
  return ((socket as PipeliningSocket)[pipeline]?.count ?? 0) > 0;
}

function leave(socket: PipeliningSocket, clock: Clock): void {
  const pending = socket[pipeline];
  if (pending === undefined) throw new Error("a pipelined response was not counted");
  pending.count -= 1;
  if (pending.count > pipelinedLow || !pending.isPaused) return;
  pending.isPaused = false;
  // In the next iteration, because in this one Node would continue to read at once.
  clock.nextIteration(() => resume(socket));
}

function resume(socket: PipeliningSocket): void {
  socket[nodePaused] = false;
  socket.parser?.resume();
  socket.resume();
}
