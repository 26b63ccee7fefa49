import { createHash } from "node:crypto";
import { Duplex } from "node:stream";
import { count, type Conditions, type FaultCounts, type FaultRates } from "./faults.ts";
import type { Scheduler } from "./scheduler.ts";
import type { SimProcess } from "./sim-process.ts";

interface NetworkOptions {
  readonly scheduler: Scheduler;
  readonly conditions: Conditions;
  readonly rates: FaultRates;
  readonly counts: FaultCounts;
  readonly networkMicroseconds: readonly [number, number];
  readonly bytesPerMillisecond: number;
}

/** Bytes that a system accepts from a process before it has sent them. */
const sendBufferBytes = 65_536;
/** Short messages are hashed together: a call of the hash costs more than their bytes. */
const hashBufferBytes = 65_536;
/** Of the line before the bytes of a message. */
const hashLineBytesMax = 100;

/** What a client learns of its connection. */
export interface ClientSide {
  data(bytes: Buffer): void;
  /** The connection was closed or lost. */
  closed(): void;
}

/** Connections in memory between clients and the servers of simulated processes. Messages of one
 *  direction of a connection arrive in order; those of different connections overtake others. */
export class Network {
  readonly options: NetworkOptions;
  readonly #hash = createHash("sha256");
  readonly #unhashed = Buffer.allocUnsafe(hashBufferBytes);
  #unhashedBytes = 0;
  readonly #open = new Set<Connection>();
  #messages = 0;
  #connections = 0;

  constructor(options: NetworkOptions) {
    this.options = options;
  }

  get messages(): number {
    return this.#messages;
  }

  /** Of all messages so far, with their times. Ends the recording. */
  digest(): string {
    this.#hashRecorded();
    return this.#hash.digest("hex");
  }

  record(text: string, bytes: Uint8Array): void {
    this.#messages += 1;
    const line = `${this.options.scheduler.now} ${text} ${bytes.length}\n`;
    const isLong = bytes.length + hashLineBytesMax > hashBufferBytes;
    const room = hashBufferBytes - this.#unhashedBytes - hashLineBytesMax;
    if (isLong || bytes.length > room) this.#hashRecorded();
    this.#unhashedBytes += this.#unhashed.write(line, this.#unhashedBytes, "latin1");
    if (isLong) {
      this.#hashRecorded();
      this.#hash.update(bytes);
    } else {
      this.#unhashed.set(bytes, this.#unhashedBytes);
      this.#unhashedBytes += bytes.length;
    }
  }

  #hashRecorded(): void {
    this.#hash.update(this.#unhashed.subarray(0, this.#unhashedBytes));
    this.#unhashedBytes = 0;
  }

  /** Undefined if nothing listens. */
  connect(process: SimProcess, title: string, client: ClientSide): Connection | undefined {
    const server = process.servers.get(title);
    if (server === undefined || !process.isAlive) return undefined;
    this.#connections += 1;
    const connection = new Connection(this, this.#connections, process, client);
    this.#open.add(connection);
    process.onKill(() => connection.cut());
    const { scheduler } = this.options;
    const accept = (): void => void server.emit("connection", connection.socket);
    scheduler.schedule(this.latency(), accept, process);
    return connection;
  }

  /** Loses some of the open connections. */
  cutSome(probability: number): void {
    for (const connection of this.#open) {
      if (this.options.scheduler.random.chance(probability)) connection.cut();
    }
  }

  latency(): number {
    const { scheduler, networkMicroseconds } = this.options;
    const [low, high] = networkMicroseconds;
    return scheduler.between(low, high);
  }

  forget(connection: Connection): void {
    this.#open.delete(connection);
  }
}

/** One connection, as the client has it. */
export class Connection {
  readonly socket: ServerSocket;
  readonly #network: Network;
  readonly #number: number;
  readonly #client: ClientSide;
  readonly #process: SimProcess;
  isOpen = true;
  /** Nothing arrives any more, and neither side knows. */
  #isStalled = false;
  #lastToServer = 0;
  #lastToClient = 0;
  /** Bytes that the server has sent into a stalled connection. */
  #bytesStalled = 0;

  constructor(network: Network, number: number, process: SimProcess, client: ClientSide) {
    this.#network = network;
    this.#number = number;
    this.#process = process;
    this.#client = client;
    this.socket = new ServerSocket(this, process, network.options.scheduler);
  }

  /** The client sends. */
  send(bytes: Buffer): void {
    if (!this.isOpen || !this.#mayDeliver()) return;
    const { scheduler, conditions } = this.#network.options;
    const at = Math.max(this.#lastToServer, scheduler.now + this.#network.latency());
    this.#lastToServer = at;
    const deliver = (): void => {
      if (this.socket.destroyed) return;
      this.#network.record(`${this.#number}>`, bytes);
      conditions.moments.reach("request delivered");
      this.socket.push(bytes);
    };
    scheduler.schedule(at - scheduler.now, deliver, this.#process);
  }

  /** The server sends; an undefined message ends its direction. Returns after how many microseconds
   *  the system can accept more, undefined if never. */
  answer(bytes: Buffer | undefined): number | undefined {
    const length = bytes?.length ?? 0;
    if (!this.isOpen) {
      if (bytes !== undefined) this.#reset();
      return 1;
    }
    if (!this.#mayDeliver()) {
      this.#bytesStalled += length;
      return this.#bytesStalled < sendBufferBytes ? 1 : undefined;
    }
    const { scheduler, conditions, bytesPerMillisecond } = this.#network.options;
    conditions.moments.reach("response sent");
    const sending = (sent: number): number =>
      bytesPerMillisecond === 0 ? 0 : Math.round((sent * 1000) / bytesPerMillisecond);
    const from = Math.max(this.#lastToClient, scheduler.now + this.#network.latency());
    const at = from + sending(length);
    this.#lastToClient = at;
    const partBytes = bytesPerMillisecond === 0 ? length : sendBufferBytes;
    let rest = bytes;
    for (let sent = partBytes; sent < length; sent += partBytes) {
      this.#deliver(rest?.subarray(0, partBytes), from + sending(sent));
      rest = rest?.subarray(partBytes);
    }
    this.#deliver(rest, at);
    return Math.max(1, at - scheduler.now - sending(sendBufferBytes));
  }

  #deliver(bytes: Buffer | undefined, at: number): void {
    const { scheduler } = this.#network.options;
    scheduler.schedule(at - scheduler.now, () => {
      if (!this.isOpen) return;
      if (bytes === undefined) return this.close();
      this.#network.record(`${this.#number}<`, bytes);
      this.#client.data(bytes);
    });
  }

  /** The client or the server closes the connection. */
  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#network.forget(this);
    this.#client.closed();
    const end = (): void => {
      if (!this.socket.destroyed) this.socket.push(null);
    };
    this.#network.options.scheduler.schedule(this.#network.latency(), end, this.#process);
  }

  /** The connection is lost, for both sides. */
  cut(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.#network.forget(this);
    const { scheduler } = this.#network.options;
    scheduler.schedule(this.#network.latency(), () => this.#client.closed());
    this.#reset();
  }

  /** The server learns that the connection is lost. */
  #reset(): void {
    const reset = (): void =>
      void this.socket.destroy(Object.assign(new Error("reset"), { code: "ECONNRESET" }));
    const { scheduler } = this.#network.options;
    scheduler.schedule(this.#network.latency(), reset, this.#process);
  }

  #mayDeliver(): boolean {
    const { scheduler, conditions, rates, counts } = this.#network.options;
    if (this.#isStalled) return false;
    if (!conditions.hasFaults) return true;
    if (scheduler.random.chance(rates.lostConnection)) {
      count(counts, "lost connection");
      this.cut();
      return false;
    }
    if (scheduler.random.chance(rates.stalledConnection)) {
      count(counts, "stalled connection");
      this.#isStalled = true;
      return false;
    }
    return true;
  }
}

/** The server's end of a connection. Node's HTTP server and the SMB server take it as a socket. */
class ServerSocket extends Duplex {
  readonly remoteAddress = "127.0.0.1";
  readonly localAddress = "127.0.0.1";
  readonly remotePort = 40_000;
  bytesRead = 0;
  readonly #connection: Connection;
  readonly #process: SimProcess;
  readonly #scheduler: Scheduler;
  #timeoutMicroseconds = 0;
  #idleSince = 0;
  #cancelTimeout: (() => void) | undefined;

  constructor(connection: Connection, process: SimProcess, scheduler: Scheduler) {
    super({ allowHalfOpen: true });
    this.#connection = connection;
    this.#process = process;
    this.#scheduler = scheduler;
    // A connection may be lost before the server has accepted it.
    this.on("error", () => {});
  }

  override _read(): void {}

  override push(chunk: Buffer | null): boolean {
    this.bytesRead += chunk?.length ?? 0;
    this.#idleSince = this.#scheduler.now;
    return super.push(chunk);
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#send(Buffer.from(chunk), done);
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: () => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.#connection.answer(undefined);
    done();
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#cancelTimeout?.();
    this.#connection.answer(undefined);
    done(error);
  }

  setTimeout(milliseconds: number, onTimeout?: () => void): this {
    const microseconds = milliseconds * 1000;
    if (onTimeout !== undefined) this.once("timeout", onTimeout);
    this.#idleSince = this.#scheduler.now;
    if (microseconds === this.#timeoutMicroseconds) return this;
    this.#timeoutMicroseconds = microseconds;
    this.#cancelTimeout?.();
    if (microseconds > 0) this.#awaitTimeout(microseconds);
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setKeepAlive(): this {
    return this;
  }

  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once("finish", () => this.destroy());
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }

  #send(bytes: Buffer, done: () => void): void {
    const acceptedIn = this.#connection.answer(bytes);
    this.#idleSince = this.#scheduler.now;
    if (acceptedIn !== undefined) this.#scheduler.schedule(acceptedIn, done, this.#process);
  }

  /** One event for many messages: it waits again if there were any meanwhile. */
  #awaitTimeout(microseconds: number): void {
    const run = (): void => {
      if (this.destroyed) return;
      const left = this.#idleSince + this.#timeoutMicroseconds - this.#scheduler.now;
      if (left > 0) return this.#awaitTimeout(left);
      this.#idleSince = this.#scheduler.now;
      this.#awaitTimeout(this.#timeoutMicroseconds);
      this.emit("timeout");
    };
    this.#cancelTimeout = this.#scheduler.schedule(microseconds, run, this.#process);
  }
}
