import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createSecureServer, Server as SecureServer } from "node:https";
import { Server as NetServer, type ListenOptions, type Socket } from "node:net";
import type { Clock } from "../base/world.ts";
import type { Connections } from "../http/limits/connections.ts";
import { messageOf, StartRefused, systemErrorCode } from "../host/start-refused.ts";
import { acceptTls } from "./https/accept-tls.ts";
import type { ServedCertificate } from "./https/served-certificate.ts";

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface ListenerOptions {
  /** Name in messages, for example `Blob service`. */
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
  /** Called for each request before the handler. */
  readonly onRequest?: Handler | undefined;
  readonly handler: Handler;
  readonly clock: Clock;
  readonly connections: Connections;
  /** A bound socket to listen on instead of `host` and `port`. */
  readonly socket?: BoundSocket | undefined;
}

/** A socket that another process has bound, as `net.Server.listen` accepts it. */
export type BoundSocket = object;

export interface Listener {
  /** The base address, with the port that was actually bound. */
  readonly url: string;
  readonly address: BoundAddress;
  /** Accepts no more connections. The next response on each closes it; no connection is closed
   *  under a request that is on its way, as `stop` may do. Resolves when all are closed, or after
   *  `millisecondsMax`. */
  drain(millisecondsMax: number): Promise<void>;
  /** Accepts no more connections and closes them once their request is complete, or when the grace
   *  period ends. */
  stop(graceMilliseconds: number): Promise<void>;
  /** Lets the process end although the listener is open and has connections. */
  unref(): void;
}

export interface BoundAddress {
  readonly host: string;
  /** The address that `host` resolved to. */
  readonly address: string;
  readonly port: number;
}

const headerBytesMax = 32 * 1024;
const headersMillisecondsMax = 30_000;
/** A connection without a byte in either direction for this long is closed. An upload may take
 *  hours as long as bytes arrive. */
const idleMillisecondsMax = 120_000;
const idlePollMilliseconds = 20;

/** Starts an HTTP or HTTPS server for one listener. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const { connections, certificate, acceptsHttp, clock } = options;
  const isPlain = certificate === undefined || acceptsHttp === true;
  const server = newServer(options, isPlain ? undefined : certificate);
  const closeUndecided = isPlain && certificate ? acceptTls(server, certificate, clock) : () => {};
  server.prependListener("connection", (socket: Socket) => connections.add(socket));
  server.prependListener("secureConnection", (socket: Socket) => connections.addSecure(socket));
  for (const handler of [options.onRequest, options.handler]) {
    if (handler === undefined) continue;
    server.on("request", handler);
    // The handler itself asks the client for the body, after the checks that can reject the request
    // without it.
    server.on("checkContinue", handler);
  }
  server.on("clientError", refuseMalformed);
  await bind(server, options);
  const bound = boundOf(server, options);
  return {
    url: formatUrl(!isPlain, bound.host, bound.port),
    address: bound,
    drain: (millisecondsMax) => drain(server, options.clock, millisecondsMax),
    stop: (graceMilliseconds) => {
      closeUndecided();
      return stop(server, options.clock, graceMilliseconds);
    },
    unref: () => unref(server),
  };
}

/** Unreferences a listener and the connections that it accepts from now on. */
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
  readonly _httpMessage?: Pick<ServerResponse, "headersSent"> | null;
}

/** Responds to requests that the HTTP parser of Node rejects, which never reach the pipeline. */
export function refuseMalformed(error: Error, socket: Socket & ConnectionInternals): void {
  const { _httpMessage: answer, bytesRead } = socket;
  if (!socket.writable) return;
  // A response has begun: another head would be read as part of its body. And without a request a
  // client that sends one now would take this response for its own.
  const isLate = systemErrorCode(error) === "ERR_HTTP_REQUEST_TIMEOUT";
  if ((isLate && bytesRead === 0) || answer?.headersSent === true) {
    socket.destroy();
    return;
  }
  // Also if the headers are too long: the service does not use 431.
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

function drain(server: Server, clock: Clock, millisecondsMax: number): Promise<void> {
  const closeAfterwards = (_: IncomingMessage, response: ServerResponse): void => {
    response.shouldKeepAlive = false;
  };
  server.prependListener("request", closeAfterwards);
  server.prependListener("checkContinue", closeAfterwards);
  return new Promise((resolve) => {
    const cancel = clock.after(millisecondsMax, resolve);
    // `close` of an HTTP server would also close idle connections; those get their usual time.
    NetServer.prototype.close.call(server, () => {
      cancel();
      resolve();
    });
  });
}

function stop(server: Server, clock: Clock, graceMilliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    let cancelPoll = (): void => {};
    // Node emits no event when a busy connection becomes idle.
    const closeIdle = (): void => {
      server.closeIdleConnections();
      cancelPoll = clock.after(idlePollMilliseconds, closeIdle);
    };
    const cancelCut = clock.after(graceMilliseconds, () => server.closeAllConnections());
    server.close(() => {
      cancelPoll();
      cancelCut();
      resolve();
    });
    closeIdle();
  });
}
