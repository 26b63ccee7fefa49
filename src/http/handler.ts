import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import type { PagedText } from "../encoding/paged-text.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import { ticksPerSecond } from "../base/ticks.ts";
import type { Clock, Log } from "../base/world.ts";
import type { ContentReader } from "../content/content.ts";
import { isTemporary, StoreClosed } from "../store/store.ts";
import type { AccessLogEntry, WriteAccess } from "./http-service.ts";
import { boundPipelining, isSurplus } from "./limits/connections.ts";
import { BodyAborted, RequestBody } from "./request/request-body.ts";
import type { UnsentResponses } from "./limits/processing-limits.ts";
import {
  bufferBody,
  type StreamedBody,
  type WireBody,
  type WireRequest,
  type WireResponse,
} from "./wire.ts";

/** Connects Node's HTTP server to the request pipeline: converts a Node request to a `WireRequest`,
 *  and sends the response. Small responses of one event-loop iteration are sent together, large
 *  ones in pieces. */

export type Serve = (request: WireRequest) => Promise<WireResponse>;

/** Returns the callback that connects Node's HTTP server to the pipeline. An exception of `serve`
 *  is logged with its stack, and the client gets an empty 500. */
export function nodeHandler(serve: Serve, log: Log, options: HandlerOptions) {
  const flushes = new Flushes(options.clock);
  return (request: IncomingMessage, response: ServerResponse): void => {
    boundPipelining(request, response, options.clock);
    void handle(request, response, { serve, log, flushes }, options);
  };
}

export interface HandlerOptions {
  readonly writeAccess?: WriteAccess;
  /** Limits the bytes of request bodies in memory; undefined: no limit. */
  readonly memory?: MemoryBudget | undefined;
  /** Counts the large responses in memory; undefined: they are not limited. */
  readonly unsent?: UnsentResponses | undefined;
  readonly clock: Clock;
  readonly meter?: ResponseMeter;
}

/** Called for every response with the time from the headers of the request until the last byte was
 *  passed to the kernel, or until the connection was closed. */
export type ResponseMeter = (response: WireResponse, seconds: number) => void;

interface HandlerParts {
  readonly serve: Serve;
  readonly log: Log;
  readonly flushes: Flushes;
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  { serve, log, flushes }: HandlerParts,
  { writeAccess, memory, unsent, clock, meter }: HandlerOptions,
): Promise<void> {
  const startedAt = clock.monotonic();
  const body = new RequestBody(request, memory);
  try {
    const wire = wireRequest(request, response, body);
    const reply = await serve(wire);
    if (meter !== undefined) {
      const finish = (): void => {
        meter(reply, Number(clock.monotonic() - startedAt) / Number(ticksPerSecond));
        reply.finished?.();
      };
      // The client may have disconnected while the request was processed.
      if (response.closed) finish();
      else response.on("close", finish);
    }
    if (writeAccess !== undefined) writeAccess(accessEntry(request, wire, reply));
    const largeBytes = largeBytesOf(reply);
    if (largeBytes > 0) unsent?.add(response, largeBytes);
    else await flushes.next();
    const sending = send(reply, request, response, clock);
    if (sending !== undefined) await sending;
  } catch (error) {
    if (error instanceof BodyAborted || (request.destroyed && !request.complete)) return;
    const fields = { err: error, url: request.url, method: request.method };
    // A stop waits 10 s for running requests, and then closes the store.
    const isCutOff = isTemporary(error) || error instanceof StoreClosed;
    if (isCutOff) log.warn(fields, "storage unavailable; response cut off");
    else log.error(fields, "request failed");
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

/** Limit of a response that may wait for a common write. Larger responses are sent at once, so that
 *  their memory is freed early. */
const batchedBytesMax = 64 * 1024;

/** The length of a response that is completely in memory and larger than `batchedBytesMax`; 0 for
 *  any other response. */
function largeBytesOf({ body }: WireResponse): number {
  const bytes =
    body?.kind === "paged" ? body.paged.length : body?.kind === "bytes" ? body.bytes.length : 0;
  return bytes > batchedBytesMax ? bytes : 0;
}

/** The ends of event-loop iterations. Waking the receiver for each small response costs more than
 *  producing it, so all of an iteration are sent together at its end. */
class Flushes {
  readonly #clock: Clock;
  #pending: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves at the end of this event-loop iteration. */
  next(): Promise<void> {
    this.#pending ??= new Promise((resolve) => {
      this.#clock.nextIteration(() => {
        this.#pending = undefined;
        resolve();
      });
    });
    return this.#pending;
  }
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

/** Sends the response. Returns a promise only for a streamed body. */
function send(
  reply: WireResponse,
  request: IncomingMessage,
  response: ServerResponse,
  clock: Clock,
): Promise<void> | undefined {
  if (reply.body?.kind === "stream") {
    return sendStreamed(reply, reply.body, request, response);
  }
  const isArriving = sendHead(reply, request, response);
  if (isArriving && maySendMore(request, reply)) {
    response.write(reply.body === undefined ? "" : bufferBody(reply.body));
    endAfterBody(request, response, clock);
    return undefined;
  }
  if (reply.body?.kind === "paged" && reply.body.paged.length > joinedBytesMax) {
    endWithPages(response, reply.body.paged);
  } else {
    endWith(response, reply.body && bufferBody(reply.body));
  }
  discardBody(request, isArriving);
  return undefined;
}

/** Sends a response with a streamed body, and closes its content reader in any case. */
async function sendStreamed(
  reply: WireResponse,
  body: StreamedBody,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const isArriving = sendHead(reply, request, response);
    await stream(body.reader, body, response);
    discardBody(request, isArriving);
  } finally {
    body.reader.close();
  }
}

/** Sends status and headers. Returns whether the body of the request is still arriving. */
function sendHead(reply: WireResponse, request: IncomingMessage, response: ServerResponse) {
  const isArriving = !request.complete && hasBody(request);
  if (isArriving || isSurplus(request.socket)) reply.headers["Connection"] = "close";
  const headers = inOrder(reply.headers);
  if (reply.reason === undefined) response.writeHead(reply.status, headers);
  else response.writeHead(reply.status, reply.reason, headers);
  return isArriving;
}

function discardBody(request: IncomingMessage, isArriving: boolean): void {
  if (isArriving) drain(request);
  // Unread bytes of the body would block the next request of the connection.
  else if (!request.readableEnded) request.resume();
}

/** Moves Content-Disposition to the front: if it follows a Content-Length, Node decodes it again
 *  and rejects characters that are not ASCII. */
function inOrder(headers: Record<string, string>): Record<string, string> {
  const disposition = headers["Content-Disposition"];
  if (disposition === undefined) return headers;
  return { "Content-Disposition": disposition, ...headers };
}

/** Up to this length, copying the body is cheaper than a second buffer in the write call. */
const joinedBytesMax = 16 * 1024;

/** Sends a body. Node joins the headers with a body that is a string; latin1 keeps its bytes. */
function endWith(response: ServerResponse, body: Uint8Array | string | undefined): void {
  if (body === undefined || typeof body === "string" || body.length > joinedBytesMax) {
    response.end(body);
  } else {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
    response.end(bytes.toString("latin1"), "latin1");
  }
}

/** Sends a paged text, and returns its pages for reuse after they were sent. If the connection
 *  breaks, `finish` is not emitted, and the garbage collector frees the pages. */
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

/** Resolves when the chunk was written, because its buffer belongs to a pool. */
function written(response: ServerResponse, chunk: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const closed = () => resolve();
    response.once("close", closed);
    response.write(chunk, () => {
      response.off("close", closed);
      resolve();
    });
  });
}

/** Limits of what is received after a response that is sent before the body has arrived. Closing
 *  the connection while the client sends would reset it, and many clients read no response before
 *  they have sent all. So up to 64 MiB of the body is received and discarded first, for up to
 *  10 s and as long as bytes arrive in every 2 s. */
const drainBytesMax = 64 * 1024 * 1024;
const drainPeriodMilliseconds = 2000;
const drainPeriodsMax = 5;

/** A response of known length, which the client can receive before the connection is closed. */
interface WholeReply extends WireResponse {
  readonly body: Exclude<WireBody, { kind: "stream" }> | undefined;
}

/** Whether the client may still send its body; it does not if it waits for `100 Continue`. */
function maySendMore(
  { headers, method }: IncomingMessage,
  reply: WireResponse,
): reply is WholeReply {
  if (headers.expect !== undefined || method === "HEAD") return false;
  return reply.headers["Content-Length"] !== undefined && reply.body?.kind !== "stream";
}

/** Ends the response, and then the connection, when the client has sent its body or as much as is
 *  discarded, or after the time for it. */
function endAfterBody(request: IncomingMessage, response: ServerResponse, clock: Clock): void {
  let isOver = false;
  let cancel = (): void => {};
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    cancel();
    response.end();
  };
  request.on("end", end);
  request.on("close", end);
  const progress = drain(request, end);
  let seen = 0;
  let periods = 0;
  const check = (): void => {
    periods += 1;
    if (progress.bytes === seen || periods === drainPeriodsMax) {
      end();
      return;
    }
    seen = progress.bytes;
    cancel = clock.after(drainPeriodMilliseconds, check);
  };
  cancel = clock.after(drainPeriodMilliseconds, check);
}

/** Receives and discards the rest of a body up to `drainBytesMax`, then calls `stop`. Returns the
 *  count of received bytes. */
function drain(
  request: IncomingMessage,
  stop: () => void = () => request.destroy(),
): { readonly bytes: number } {
  const progress = { bytes: 0 };
  request.on("data", (chunk: Buffer) => {
    progress.bytes += chunk.length;
    if (progress.bytes > drainBytesMax) stop();
  });
  request.on("error", () => {});
  request.resume();
  return progress;
}
