import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import type { PagedText } from "../encoding/paged-text.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import { ticksPerSecond } from "../base/ticks.ts";
import type { Clock, Log } from "../base/world.ts";
import type { ContentReader } from "../content/content.ts";
import type { AccessLogEntry, WriteAccess } from "./access-log.ts";
import { isSurplus } from "./connections.ts";
import { drain, endAfterBody, maySendMore } from "./early-answer.ts";
import { boundPipelining } from "./pipelining.ts";
import { BodyAborted, RequestBody } from "./request-body.ts";
import { bufferBody, type WireResponse, type WireRequest } from "./wire.ts";

export type Serve = (request: WireRequest) => Promise<WireResponse>;

/** Joins Node's HTTP server to the pipeline. Whatever escapes the pipeline is a bug: it is logged
 *  with its stack, and the client gets a plain 500. */
export function nodeHandler(serve: Serve, log: Log, options: HandlerOptions = {}) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    boundPipelining(request, response);
    void answer(request, response, serve, log, options);
  };
}

export interface HandlerOptions {
  readonly writeAccess?: WriteAccess;
  /** Limits the bytes of request bodies that are in memory. */
  readonly memory?: MemoryBudget | undefined;
  /** Needed by `meter`, and for responses that are sent before the request's body has arrived. */
  readonly clock?: Clock;
  readonly meter?: ResponseMeter;
}

/** Gets every response with the time from the request's headers until the last byte was passed to
 *  the kernel, or until the connection was closed. */
export type ResponseMeter = (response: WireResponse, seconds: number) => void;

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  serve: Serve,
  log: Log,
  { writeAccess, memory, clock, meter }: HandlerOptions,
): Promise<void> {
  const startedAt = clock?.monotonic();
  const body = new RequestBody(request, memory);
  try {
    const wire = wireRequest(request, response, body);
    const reply = await serve(wire);
    if (meter !== undefined && clock !== undefined && startedAt !== undefined) {
      response.on("close", () => {
        meter(reply, Number(clock.monotonic() - startedAt) / Number(ticksPerSecond));
      });
    }
    if (writeAccess !== undefined) writeAccess(accessEntry(request, wire, reply));
    if (!isLong(reply)) await nextFlush();
    await send(reply, request, response, clock);
  } catch (error) {
    if (error instanceof BodyAborted || (request.destroyed && !request.complete)) return;
    log.error({ err: error, url: request.url, method: request.method }, "request failed");
    if (response.headersSent) response.destroy();
    else response.writeHead(500, { "Content-Length": 0 }).end();
  } finally {
    body.release();
  }
}

function accessEntry(
  { httpVersion }: IncomingMessage,
  { remoteAddress, method, target: url }: WireRequest,
  { status, headers }: WireResponse,
): AccessLogEntry {
  const contentLength = headers["Content-Length"];
  return { remoteAddress, method, url, httpVersion, status, contentLength };
}

/** What takes up memory leaves at once. */
const gatheredBytesMax = 64 * 1024;

function isLong({ body }: WireResponse): boolean {
  if (body?.kind === "paged") return body.paged.length > gatheredBytesMax;
  return body?.kind === "bytes" && body.bytes.length > gatheredBytesMax;
}

let pendingFlush: Promise<void> | undefined;

/** Answers of one turn of the event loop leave together. Each that leaves alone finds its reader
 *  asleep again, and waking one costs more than all the rest of a small answer. */
function nextFlush(): Promise<void> {
  pendingFlush ??= new Promise((resolve) => {
    setImmediate(() => {
      pendingFlush = undefined;
      resolve();
    });
  });
  return pendingFlush;
}

function wireRequest(
  request: IncomingMessage,
  response: ServerResponse,
  body: RequestBody,
): WireRequest {
  return {
    method: request.method ?? "GET",
    target: request.url ?? "/",
    headers: request.headers as Record<string, string | undefined>,
    rawHeaders: request.rawHeaders,
    body,
    memory: body,
    isSurplus: isSurplus(request.socket),
    secure: (request.socket as Partial<TLSSocket>).encrypted === true,
    remoteAddress: request.socket.remoteAddress ?? "",
    connection: request.socket,
    proceed: () => {
      if (request.headers.expect !== undefined) response.writeContinue();
    },
  };
}

/** Whatever happens to the answer, what its bytes come from is let go. */
async function send(
  reply: WireResponse,
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock | undefined,
): Promise<void> {
  try {
    await sendHeadAndBody(reply, request, response, clock);
  } finally {
    if (reply.body?.kind === "stream") reply.body.reader.close();
  }
}

async function sendHeadAndBody(
  reply: WireResponse,
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock | undefined,
): Promise<void> {
  const isArriving = !request.complete && hasBody(request);
  if (isArriving || isSurplus(request.socket)) reply.headers["Connection"] = "close";
  const headers = inOrder(reply.headers);
  if (reply.reason === undefined) response.writeHead(reply.status, headers);
  else response.writeHead(reply.status, reply.reason, headers);
  if (isArriving && clock !== undefined && maySendMore(request, reply)) {
    response.write(reply.body === undefined ? "" : bufferBody(reply.body));
    endAfterBody(request, response, clock);
    return;
  }
  if (reply.body?.kind === "stream") {
    await stream(reply.body.reader, reply.body, response);
  } else if (reply.body?.kind === "paged" && reply.body.paged.length > joinedBytesMax) {
    endWithPages(response, reply.body.paged);
  } else {
    endWith(response, reply.body && bufferBody(reply.body));
  }
  if (isArriving) drain(request);
  // What is here but was not taken stands in the way of the connection's next request.
  else if (!request.readableEnded) request.resume();
}

/** Behind a length, Node decodes a disposition once more, and then refuses what is not ASCII. */
function inOrder(headers: Record<string, string>): Record<string, string> {
  const disposition = headers["Content-Disposition"];
  if (disposition === undefined) return headers;
  return { "Content-Disposition": disposition, ...headers };
}

/** Up to here a copy is cheaper than a second buffer for the kernel to gather. */
const joinedBytesMax = 16 * 1024;

/** Node joins headers and a body that is a string; one code unit per byte keeps the bytes. */
function endWith(response: ServerResponse, body: Uint8Array | string | undefined): void {
  if (body === undefined || typeof body === "string" || body.length > joinedBytesMax) {
    response.end(body);
  } else {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
    response.end(bytes.toString("latin1"), "latin1");
  }
}

/** Its pages are free as soon as they have left. An answer that was broken off does not finish: its
 *  pages go the way of all garbage. */
function endWithPages(response: ServerResponse, paged: PagedText): void {
  response.once("finish", () => paged.release());
  response.cork();
  for (const piece of paged.pieces()) response.write(piece);
  response.end();
  response.uncork();
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers["content-length"];
  return headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
}

async function stream(
  reader: ContentReader,
  { from, length }: { from: number; length: number },
  response: ServerResponse,
): Promise<void> {
  for await (const chunk of reader.read(from, length)) {
    if (response.destroyed) return;
    await written(response, chunk);
  }
  response.end();
}

/** Resolves when the chunk has left our hands: its buffer belongs to a pool. */
function written(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const gone = () => resolve();
    response.once("close", gone);
    response.write(chunk, () => {
      response.off("close", gone);
      resolve();
    });
  });
}
