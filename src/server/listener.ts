import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer, Server as SecureServer } from "node:https";
import { Server as NetServer, type ListenOptions, type Socket } from "node:net";
import type { Clock } from "../base/world.ts";
import { ticksPerMillisecond, type Ticks } from "../base/ticks.ts";
import { hasPipelined, type Connections } from "../http/limits/connections.ts";
import { messageOf, StartRefused, systemErrorCode } from "../host/refused.ts";
import { acceptTls } from "./https/accept-tls.ts";
import type { ServedCertificate } from "./https/served-certificate.ts";

/** Opens HTTP and HTTPS listeners, one for each service and one for the admin API, and closes them
 *  without resetting a request. */

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface ListenerOptions {
  /** Name of the listener in messages: `Blob service`. */
  readonly title: string;
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Called with a notice when the port is in use and a free one is used instead; if undefined, a
   *  port in use is an error. */
  readonly onPortReplaced?: ((notice: string) => void) | undefined;
  readonly keepAliveSeconds: number;
  readonly certificate: ServedCertificate | undefined;
  /** Whether HTTP is accepted as well as HTTPS, on the same port. */
  readonly acceptsHttp?: boolean | undefined;
  /** Called for each request before the handler: notes the program of the client (`SeenClients`),
   *  and in a worker process the connection. */
  readonly onRequest?: Handler | undefined;
  readonly handler: Handler;
  readonly clock: Clock;
  readonly connections: Connections;
  /** The socket that the supervisor of worker processes has bound, instead of `host` and `port`. */
  readonly socket?: BoundSocket | undefined;
  /** Binds a listener in a simulated network. Undefined: the network of this machine. */
  readonly bind?: Bind | undefined;
}

/** A socket that another process has bound, as `net.Server.listen` accepts it. */
export type BoundSocket = object;

export interface Listener {
  /** The base address, with the port that was actually bound. */
  readonly url: string;
  readonly address: BoundAddress;
  /** Accepts no more connections and ends the open ones. Resolves when all are closed. A further
   *  call can shorten the pace of the first one. */
  stop(pace: StopPace): Promise<void>;
  /** Lets the process end although the listener is open and has connections. */
  unref(): void;
}

/** How long a listener that stops leaves connections open. A response that begins after the stop
 *  announces the close of its connection, and then closes it. A connection without a request is
 *  closed after the quiet period, because its client may be sending a request, which an earlier
 *  close would reset. */
export interface StopPace {
  readonly quietMilliseconds: number;
  /** Time for running requests; connections that are still open then are closed. */
  readonly graceMilliseconds: number;
}

export interface BoundAddress {
  readonly host: string;
  /** The address that `host` resolved to. */
  readonly address: string;
  readonly port: number;
}

/** Limits of the head of a request: its bytes, and the time until it is complete. */
const headerBytesMax = 32 * 1024;
const headersMillisecondsMax = 30_000;
/** A connection without a byte in either direction for this long is closed. An upload may take
 *  hours as long as bytes arrive. */
const idleMillisecondsMax = 120_000;
const idlePollMilliseconds = 20;

/** Opens a listener. Throws `StartRefused` if its address cannot be bound. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { connections, certificate, acceptsHttp, clock } = options;
  const isPlain = certificate === undefined || acceptsHttp === true;
  const server = newServer(options, isPlain ? undefined : certificate);
  const open = openConnections(server, isPlain ? "connection" : "secureConnection");
  const closeUndecided = isPlain && certificate ? acceptTls(server, certificate, clock) : () => {};
  server.prependListener("connection", (socket: Socket) => connections.add(socket));
  server.prependListener("secureConnection", (socket: Socket) => connections.addSecure(socket));
  const gate = new RequestGate(options);
  server.on("request", gate.handle);
  // The handler itself asks the client for the body, after the checks that can reject the request
  // without it.
  server.on("checkContinue", gate.handle);
  server.on("clientError", refuseMalformed);
  await (options.bind ?? bind)(server, options);
  const bound = boundOf(server, options);
  const stopping = new ListenerStop({ server, open, gate, clock });
  return {
    url: formatUrl(!isPlain, bound.host, bound.port),
    address: bound,
    stop: (pace) => {
      closeUndecided();
      return stopping.run(pace);
    },
    unref: () => unref(server),
  };
}

/** Passes requests to the handler, or holds them for the short time in which a listener that stops
 *  accepts the last connections (`#acceptWaiting`). */
class RequestGate {
  readonly #onRequest: Handler | undefined;
  readonly #handler: Handler;
  #held: (() => void)[] | undefined;

  constructor({ onRequest, handler }: Pick<ListenerOptions, "onRequest" | "handler">) {
    this.#onRequest = onRequest;
    this.#handler = handler;
  }

  readonly handle: Handler = (request, response) => {
    if (this.#held !== undefined) {
      this.#held.push(() => this.handle(request, response));
      return;
    }
    this.#onRequest?.(request, response);
    this.#handler(request, response);
  };

  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const handle of held) handle();
  }
}

interface OpenConnections {
  /** Connections over TCP. */
  readonly sockets: ReadonlySet<Socket>;
  /** The sockets on which HTTP requests arrive: TLS sockets for HTTPS, else those of `sockets`. */
  readonly streams: ReadonlySet<Socket & ConnectionInternals>;
}

/** Collects the open connections of a server. Must be called before `acceptTls`, which calls the
 *  listeners of `connection` again, with the TLS stream in a connection. */
function openConnections(
  server: Server,
  streamEvent: "connection" | "secureConnection",
): OpenConnections {
  const sockets = new Set<Socket>();
  const streams = new Set<Socket>();
  const adds = (to: Set<Socket>) => (socket: Socket) => {
    to.add(socket);
    socket.once("close", () => to.delete(socket));
  };
  server.on(streamEvent, adds(streams));
  server.on("connection", adds(sockets));
  return { sockets, streams };
}

/** Lets the process end although a server is open, and has connections accepted from now on. */
export function unref(server: NetServer): void {
  server.unref();
  server.on("connection", (socket) => socket.unref());
}

function newServer(
  { keepAliveSeconds }: ListenerOptions,
  certificate: ServedCertificate | undefined,
): Server {
  const limits = {
    maxHeaderSize: headerBytesMax,
    headersTimeout: headersMillisecondsMax,
    requestTimeout: 0,
    keepAliveTimeout: keepAliveSeconds * 1000,
  };
  const server = certificate === undefined ? createServer(limits) : createSecureServer(limits);
  if (server instanceof SecureServer) certificate?.use((next) => server.setSecureContext(next));
  server.timeout = idleMillisecondsMax;
  return server;
}

export type BindOptions = Pick<
  ListenerOptions,
  "title" | "host" | "port" | "onPortReplaced" | "socket"
>;

export type Bind = (server: NetServer, options: BindOptions) => Promise<void>;

/** Binds a server to its address. Throws `StartRefused` with an explanation if that fails. */
export async function bind(server: NetServer, options: BindOptions): Promise<void> {
  const { socket } = options;
  await bindOrReplace(options, (host, port) => listenAt(server, socket ?? { host, port }));
}

/** Calls `bindTo` with the address, and again with port 0 if the port is in use and may be
 *  replaced. Throws `StartRefused` with an explanation if that fails. */
export async function bindOrReplace(
  options: BindOptions,
  bindTo: (host: string, port: number) => Promise<void>,
): Promise<void> {
  const { title, host, port, onPortReplaced } = options;
  try {
    await bindTo(host, port);
  } catch (error) {
    const isInUse = systemErrorCode(error) === "EADDRINUSE";
    if (!isInUse || onPortReplaced === undefined) throw startError(options, error);
    onPortReplaced(`${title}: port ${port} of ${host} is in use; using a free port instead`);
    await bindTo(host, 0).catch((again: unknown) => {
      throw startError({ ...options, port: 0 }, again);
    });
  }
}

function startError({ title, host, port }: BindOptions, error: unknown): StartRefused {
  return new StartRefused([`${title}: ${explain(error, host, port)}`], error);
}

function listenAt(server: NetServer, address: BoundSocket | ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(address, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function explain(error: unknown, host: string, port: number): string {
  switch (systemErrorCode(error)) {
    case "EADDRINUSE":
      return `port ${port} of ${host} is in use (EADDRINUSE); choose another, or 0 for a free one`;
    case "EACCES":
      return `no permission to listen on port ${port} of ${host}`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${host} is not an address of this machine`;
    default:
      return `cannot listen at ${host}:${port}: ${messageOf(error)}`;
  }
}

/** The response that Node is writing to a connection; a private field of Node. */
interface ConnectionInternals {
  readonly _httpMessage?: ServerResponse | null;
}

/** Responds to requests that the HTTP parser of Node rejects, which never reach the pipeline. */
export function refuseMalformed(error: Error, socket: Socket & ConnectionInternals): void {
  const { _httpMessage: response, bytesRead } = socket;
  if (!socket.writable) return;
  // A response has begun: another head would be read as part of its body. And if there was no
  // request, a client that sends one now would read this response as the one to it.
  const isLate = systemErrorCode(error) === "ERR_HTTP_REQUEST_TIMEOUT";
  if ((isLate && bytesRead === 0) || response?.headersSent === true) {
    socket.destroy();
    return;
  }
  // 400 also if the headers are too long: Azure does not use 431.
  const status = isLate ? "408 Request Timeout" : "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function boundOf(server: Server, { host, port }: ListenerOptions): BoundAddress {
  const taken = server.address();
  if (typeof taken !== "object" || taken === null) return { host, address: host, port };
  return { host, address: taken.address, port: taken.port };
}

export function formatUrl(secure: boolean, host: string, port: number): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `${secure ? "https" : "http"}://${name}:${port}`;
}

/** Since when a connection has received no byte and has had no running request. */
interface Quiet {
  readonly bytesRead: number;
  readonly since: Ticks;
}

interface ListenerParts {
  readonly server: Server;
  readonly open: OpenConnections;
  readonly gate: RequestGate;
  readonly clock: Clock;
}

/** After so many event-loop iterations without a new connection, none waits in the kernel. */
const iterationsWithoutConnection = 3;
/** Most iterations in which a listener that stops accepts further connections, so that clients that
 *  connect without end cannot prevent the stop. */
const lastIterationsMax = 20_000;

/** Stops a listener without resetting requests under way. */
class ListenerStop {
  readonly #server: Server;
  readonly #open: OpenConnections;
  readonly #gate: RequestGate;
  readonly #clock: Clock;
  readonly #last = new LastResponses();
  readonly #quiet = new Map<Socket, Quiet>();
  readonly #cancelCuts: (() => void)[] = [];
  #quietMilliseconds = Infinity;
  #stopped: Promise<void> | undefined;

  constructor({ server, open, gate, clock }: ListenerParts) {
    this.#server = server;
    this.#open = open;
    this.#gate = gate;
    this.#clock = clock;
  }

  run({ quietMilliseconds, graceMilliseconds }: StopPace): Promise<void> {
    this.#quietMilliseconds = Math.min(this.#quietMilliseconds, quietMilliseconds);
    const cut = (): void => {
      for (const socket of this.#open.sockets) socket.destroy();
    };
    this.#cancelCuts.push(this.#clock.after(graceMilliseconds, cut));
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    const server = this.#server;
    server.prependListener("request", this.#closeAfterwards);
    server.prependListener("checkContinue", this.#closeAfterwards);
    for (const socket of this.#open.streams) this.#closeAfterRunning(socket);
    if (this.#quietMilliseconds > 0) await this.#acceptWaiting();
    const closed = new Promise<void>((resolve) => {
      let cancelPoll = (): void => {};
      // Node emits no event when a busy connection becomes idle.
      const poll = (): void => {
        this.#closeQuiet();
        cancelPoll = this.#clock.after(idlePollMilliseconds, poll);
      };
      // `close` of an HTTP server would also close idle connections.
      NetServer.prototype.close.call(server, () => {
        cancelPoll();
        for (const cancel of this.#cancelCuts) cancel();
        resolve();
      });
      poll();
    });
    this.#gate.release();
    await closed;
    // The responses on connections that were closed report their end in the next iteration.
    await new Promise<void>((resolve) => this.#clock.nextIteration(resolve));
    // Ends the timer with which Node looks for slow headers.
    server.close(() => {});
  }

  /** Accepts the connections that wait in the kernel, because closing the listening socket would
   *  reset them. Node accepts one connection per iteration. Requests are held until all are
   *  accepted: a client that uses a connection for one request would otherwise open the next one
   *  after each response. */
  async #acceptWaiting(): Promise<void> {
    let without = 0;
    const count = (): void => void (without = 0);
    this.#gate.hold();
    this.#server.on("connection", count);
    for (let passed = 0; passed < lastIterationsMax; passed += 1) {
      await new Promise<void>((resolve) => this.#clock.nextIteration(resolve));
      if (without === iterationsWithoutConnection) break;
      without += 1;
    }
    this.#server.off("connection", count);
  }

  readonly #closeAfterwards = ({ socket }: IncomingMessage, response: ServerResponse): void => {
    this.#last.keepOpen(socket);
    this.#last.closeAfter(socket, response);
  };

  /** Marks the response of the running request. Not if further requests have arrived, which would
   *  remain unanswered. */
  #closeAfterRunning(socket: Socket & ConnectionInternals): void {
    const { _httpMessage: response } = socket;
    if (response === undefined || response === null || response.headersSent) return;
    if (!hasPipelined(socket)) this.#last.closeAfter(socket, response);
  }

  #closeQuiet(): void {
    const now = this.#clock.monotonic();
    const quietTicks = BigInt(this.#quietMilliseconds) * ticksPerMillisecond;
    for (const socket of this.#open.streams) {
      const { bytesRead, _httpMessage: response } = socket;
      const isRunning = response !== undefined && response !== null && !response.writableEnded;
      const known = this.#quiet.get(socket);
      const isChanged = isRunning || known?.bytesRead !== bytesRead;
      const since = isChanged ? now : (known?.since ?? now);
      this.#quiet.set(socket, { bytesRead, since });
      if (!isRunning && now - since >= quietTicks) socket.destroy();
    }
  }
}

/** The response after which each connection is closed. A connection is only closed by a response
 *  with `Connection: close`: then its client knows that a further request needs a new one. */
export class LastResponses {
  readonly #last = new Map<Socket, ServerResponse>();

  /** Closes the connection after this response, whose head can still announce the close. */
  closeAfter(socket: Socket, response: ServerResponse): void {
    response.shouldKeepAlive = false;
    this.#last.set(socket, response);
    response.once("close", () => {
      if (this.#last.get(socket) === response) this.#last.delete(socket);
    });
  }

  /** Must be called for each request before `closeAfter`. Returns whether the client has sent it
   *  before the last response, which then keeps the connection open: otherwise this request would
   *  remain unanswered. */
  keepOpen(socket: Socket): boolean {
    const last = this.#last.size > 0 ? this.#last.get(socket) : undefined;
    if (last === undefined) return false;
    this.#last.delete(socket);
    if (!last.headersSent) last.shouldKeepAlive = true;
    return true;
  }
}
