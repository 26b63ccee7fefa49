import type { Socket } from "node:net";
import type { Clock } from "../base/world.ts";

/** What of a request's body is on its way, for the one who looks whether it moves. */
export interface BodyProgress {
  /** Whether the server waits for the client, and not the other way round. */
  readonly isWaiting: boolean;
  /** So far. */
  readonly bytes: number;
  /** Ends it: the client is too slow. */
  end(): void;
}

const reading = Symbol("reading");
const surplus = Symbol("surplus");

interface WatchedSocket extends Socket {
  [reading]?: BodyProgress | undefined;
  [surplus]?: true;
}

/** Tells which body a connection brings now; undefined when it is over. */
export function setReading(socket: Socket, body: BodyProgress | undefined): void {
  (socket as WatchedSocket)[reading] = body;
}

/** Whether the connection came when there were too many: its requests are answered with 503. */
export function isSurplus(socket: Socket): boolean {
  return (socket as WatchedSocket)[surplus] === true;
}

export interface ConnectionLimits {
  readonly clock: Clock;
  /** Of all listeners. */
  readonly connectionsMax: number;
}

/** A body brings so much in each period, or its end. Slower ones are ended within two periods. */
export const progressMilliseconds = 30_000;
export const progressBytesMin = 16 * 1024;
/** Beyond this part of the maximum, a connection is closed instead of answered. */
const surplusPart = 0.25;
const surplusMin = 64;

/** All connections of a process, of every listener. */
export class Connections {
  readonly #clock: Clock;
  readonly #connectionsMax: number;
  readonly #closedBeyond: number;
  readonly #open = new Set<WatchedSocket>();
  /** What is made of some of them after the handshake: requests name these. */
  readonly #secure = new Set<WatchedSocket>();
  /** What bodies had brought when they were looked at last. */
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

  /** For every new connection. Returns whether it is one of those there is room for. */
  add(socket: Socket): boolean {
    const isRoom = this.#open.size < this.#connectionsMax;
    if (!isRoom) (socket as WatchedSocket)[surplus] = true;
    if (this.#open.size >= this.#closedBeyond) {
      socket.destroy();
      return false;
    }
    this.#open.add(socket);
    socket.once("close", () => this.#remove(socket));
    this.#cancel ??= this.#clock.after(progressMilliseconds, () => this.#look());
    return isRoom;
  }

  /** For a connection that was added and has passed its handshake. */
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

  #look(): void {
    const seen = new Map<BodyProgress, number>();
    const tooSlow: BodyProgress[] = [];
    for (const { [reading]: body } of [...this.#open, ...this.#secure]) {
      if (body === undefined || !body.isWaiting) continue;
      const before = this.#seen.get(body);
      if (before !== undefined && body.bytes - before < progressBytesMin) tooSlow.push(body);
      else seen.set(body, body.bytes);
    }
    this.#seen = seen;
    this.#cancel = this.#clock.after(progressMilliseconds, () => this.#look());
    for (const body of tooSlow) body.end();
  }
}
