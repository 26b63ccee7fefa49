import { Duplex } from "node:stream";
import type { Connection, Network } from "./network.ts";
import type { SimProcess } from "./sim-process.ts";

/** The client's end of a connection in memory, as a stream. */
export class ClientSocket extends Duplex {
  readonly #network: Network;
  /** The process whose connection it is; undefined for a client outside all of them. */
  readonly #owner: SimProcess | undefined;
  #connection: Connection | undefined;
  #timeoutMicroseconds = 0;
  #cancelTimeout = (): void => {};

  private constructor(network: Network, owner: SimProcess | undefined) {
    super();
    this.#network = network;
    this.#owner = owner;
  }

  /** Undefined if nothing listens. */
  static open(network: Network, to: SimProcess, title: string): ClientSocket | undefined {
    const socket = new ClientSocket(network, undefined);
    return socket.#connect(to, title) ? socket : undefined;
  }

  /** A connection between two processes; it fails later if nothing listens. */
  static between(
    network: Network,
    from: SimProcess,
    to: SimProcess | undefined,
    title: string,
  ): ClientSocket {
    const socket = new ClientSocket(network, from);
    from.onKill(() => socket.#connection?.cut());
    if (to === undefined || !socket.#connect(to, title)) {
      const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      socket.#later(network.latency(), () => socket.destroy(refused));
    }
    return socket;
  }

  setTimeout(milliseconds: number): this {
    this.#timeoutMicroseconds = milliseconds * 1000;
    this.#restartTimeout();
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#restartTimeout();
    this.#connection?.send(Buffer.from(chunk));
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#cancelTimeout();
    this.#connection?.close();
    done(error);
  }

  #connect(to: SimProcess, title: string): boolean {
    this.#connection = this.#network.connect(to, title, {
      data: (bytes) => this.#later(0, () => this.#receive(bytes)),
      closed: () => this.#later(0, () => this.#end()),
    });
    return this.#connection !== undefined;
  }

  #receive(bytes: Buffer): void {
    if (this.destroyed) return;
    this.#restartTimeout();
    this.push(bytes);
  }

  /** An HTTP client must not take the loss of a connection for the end of a response. */
  #end(): void {
    if (this.destroyed) return;
    if (this.#owner === undefined) this.destroy();
    else this.push(null);
  }

  /** A process takes part only while it lives and is not paused. */
  #later(microseconds: number, run: () => void): void {
    if (this.#owner === undefined && microseconds === 0) return run();
    this.#network.options.scheduler.schedule(microseconds, run, this.#owner);
  }

  #restartTimeout(): void {
    this.#cancelTimeout();
    if (this.#timeoutMicroseconds === 0 || this.destroyed) return;
    const { scheduler } = this.#network.options;
    const expire = (): void => void this.emit("timeout");
    this.#cancelTimeout = scheduler.schedule(this.#timeoutMicroseconds, expire, this.#owner);
  }
}
