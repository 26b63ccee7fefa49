import { createServer } from "node:http";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { Server as NetServer, Socket } from "node:net";
import type { Clock } from "../base/world.ts";
import type { Connections } from "../http/connections.ts";
import { messageOf, StartRefused, systemErrorCode } from "./start-refused.ts";
import type { Certificate } from "./certificate.ts";

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export interface ListenerOptions {
  /** As messages call it, e.g. `Blob service`. */
  readonly title: string;
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Called when the port is in use and a free one is taken instead; undefined makes a port that is
   *  in use an error. */
  readonly onPortReplaced?: ((notice: string) => void) | undefined;
  readonly keepAliveSeconds: number;
  readonly certificate: Certificate | undefined;
  readonly handler: Handler;
  readonly clock: Clock;
  readonly connections: Connections;
}

export interface Listener {
  /** With the port that was really taken. */
  readonly url: string;
  readonly bound: Bound;
  /** Takes no more connections, lets running requests finish within the bound, then cuts them. */
  stop(graceMilliseconds: number): Promise<void>;
}

export interface Bound {
  readonly host: string;
  /** What the host stands for. */
  readonly address: string;
  readonly port: number;
}

const headerBytesMax = 32 * 1024;
const headersMillisecondsMax = 30_000;
/** Without a byte in either direction; an upload may take hours as long as it moves. */
const idleMillisecondsMax = 120_000;
const idlePollMilliseconds = 20;

export async function listen(options: ListenerOptions): Promise<Listener> {
  const server = newServer(options);
  const { connections } = options;
  server.prependListener("connection", (socket: Socket) => connections.add(socket));
  server.prependListener("secureConnection", (socket: Socket) => connections.addSecure(socket));
  server.on("request", options.handler);
  // The handler itself asks for the body once it knows that the request is not refused.
  server.on("checkContinue", options.handler);
  server.on("clientError", refuseMalformed);
  await bind(server, options);
  const bound = boundOf(server, options);
  return {
    url: formatUrl(options.certificate !== undefined, bound.host, bound.port),
    bound,
    stop: (graceMilliseconds) => stop(server, options.clock, graceMilliseconds),
  };
}

function newServer({ certificate, keepAliveSeconds }: ListenerOptions): Server {
  const limits = {
    maxHeaderSize: headerBytesMax,
    headersTimeout: headersMillisecondsMax,
    requestTimeout: 0,
    keepAliveTimeout: keepAliveSeconds * 1000,
  };
  const server =
    certificate === undefined
      ? createServer(limits)
      : createSecureServer({ ...limits, ...certificate });
  server.timeout = idleMillisecondsMax;
  return server;
}

type BindOptions = Pick<ListenerOptions, "title" | "host" | "port" | "onPortReplaced">;

export async function bind(server: NetServer, options: BindOptions): Promise<void> {
  const { title, host, port, onPortReplaced } = options;
  try {
    await listenAt(server, host, port);
  } catch (error) {
    const isInUse = systemErrorCode(error) === "EADDRINUSE";
    if (!isInUse || onPortReplaced === undefined) throw refused(options, error);
    onPortReplaced(`${title}: port ${port} of ${host} is in use, taking a free port instead`);
    await listenAt(server, host, 0).catch((again: unknown) => {
      throw refused({ ...options, port: 0 }, again);
    });
  }
}

function refused({ title, host, port }: BindOptions, error: unknown): StartRefused {
  return new StartRefused([`${title}: ${explain(error, host, port)}`], error);
}

function listenAt(server: NetServer, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host, port }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function explain(error: unknown, host: string, port: number): string {
  switch (systemErrorCode(error)) {
    case "EADDRINUSE":
      return `port ${port} of ${host} is taken (EADDRINUSE); choose another, or 0 for any free one`;
    case "EACCES":
      return `port ${port} of ${host} needs more rights than this process has`;
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `${host} is not an address of this machine`;
    default:
      return `cannot listen at ${host}:${port}: ${messageOf(error)}`;
  }
}

/** The answer that Node is writing to a connection, a field it does not publish. */
interface Answering {
  readonly _httpMessage?: Pick<ServerResponse, "headersSent"> | null;
}

/** What Node could not read as HTTP never reaches the pipeline. */
function refuseMalformed(error: Error, socket: Socket & Answering): void {
  const { _httpMessage: answer } = socket;
  if (!socket.writable) return;
  // A second head in the middle of an answer would pass for a part of what was read.
  if (answer?.headersSent === true) {
    socket.destroy();
    return;
  }
  const tooLarge = systemErrorCode(error) === "HPE_HEADER_OVERFLOW";
  const status = tooLarge ? "431 Request Header Fields Too Large" : "400 Bad Request";
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function boundOf(server: Server, { host, port }: ListenerOptions): Bound {
  const taken = server.address();
  if (typeof taken !== "object" || taken === null) return { host, address: host, port };
  return { host, address: taken.address, port: taken.port };
}

export function formatUrl(secure: boolean, host: string, port: number): string {
  const name = host.includes(":") ? `[${host}]` : host;
  return `${secure ? "https" : "http"}://${name}:${port}`;
}

function stop(server: Server, clock: Clock, graceMilliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    let cancelPoll = (): void => {};
    // A connection that was busy becomes idle only after its answer; nothing tells us when.
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
