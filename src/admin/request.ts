import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import type { Accounts } from "../account/settings.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import { refuse, type AdminResponse } from "./admin-response.ts";
import type { Grant, ResourceName } from "./security/grant.ts";
import { RequestBody } from "../http/request/request-body.ts";
import type { RouteContext } from "./admin-context.ts";

/** A request to the admin listener, as its routes get it instead of the objects of Node.js. Its
 *  body is read only when a route asks for it. */
export interface AdminRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly remoteAddress: string;
  readonly secure: boolean;
  readonly readBytes: (bytesMax: number) => Promise<ReadBody>;
}

/** A request after `handler.ts` has authenticated its caller, with what the caller may see. */
export interface AuthenticatedRequest extends AdminRequest {
  readonly context: RouteContext;
  readonly grant: Grant;
  /** The accounts that the caller administers. For a principal: the accounts in which the principal
   *  has a role. */
  readonly accounts: Accounts;
  /** Whether the caller may see what a container, queue, table or share contains; an administrator
   *  also in an account that is no longer configured. */
  readonly sees: (resource: ResourceName) => boolean;
  /** Whether the caller's login is still valid; streams check it periodically. */
  readonly isValid: () => boolean;
}

/** A request whose parameters and body have passed the checks of its route. */
export interface CheckedRequest extends AuthenticatedRequest {
  /** The fields of the body; none if the request has no body. */
  readonly body: JsonObject;
}

type BodyResult =
  | { readonly ok: true; readonly body: JsonObject }
  | { readonly ok: false; readonly refusal: AdminResponse };

export type JsonObject = Readonly<Record<string, unknown>>;

const bodyBytesMax = 64 * 1024;

export function adminRequestOf(
  message: IncomingMessage,
  memory: MemoryBudget | undefined,
): AdminRequest {
  const [path = "/", query = ""] = splitOnce(message.url ?? "/", "?");
  return {
    method: message.method ?? "GET",
    path,
    query: new URLSearchParams(query),
    headers: message.headers,
    remoteAddress: message.socket.remoteAddress ?? "",
    secure: (message.socket as Partial<TLSSocket>).encrypted === true,
    readBytes: (bytesMax) => readBody(message, memory, bytesMax),
  };
}

function splitOnce(text: string, mark: string): readonly string[] {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

/** Reads the body of a request as a JSON object; without a body, an empty one. */
export async function readJson({ readBytes }: AdminRequest): Promise<BodyResult> {
  const bytes = await readBytes(bodyBytesMax);
  if (bytes === "no-memory") {
    return refused(503, "ServerBusy", "the requests of all clients take too much memory");
  }
  if (bytes === "too-large") {
    return refused(413, "BodyTooLarge", `the body is longer than ${bodyBytesMax} bytes`);
  }
  if (bytes.length === 0) return { ok: true, body: {} };
  try {
    const value: unknown = JSON.parse(bytes.toString("utf8"));
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    if (isObject) return { ok: true, body: value as JsonObject };
    return refused(400, "InvalidInput", 'the body must be a JSON object: { "name": … }');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return refused(400, "InvalidInput", `the body is not valid JSON: ${reason}`);
  }
}

function refused(status: number, code: string, reason: string): BodyResult {
  // Only with 400 the body was read to its end. Otherwise closing the connection discards it.
  const headers = status === 400 ? {} : { Connection: "close" };
  return { ok: false, refusal: refuse(status, code, reason, headers) };
}

/** A number in the query, which the route has checked already; `standard` if it is absent. */
export function countOf(query: URLSearchParams, name: string, standard: number): number {
  const given = query.get(name) ?? "";
  return given === "" ? standard : Number(given);
}

/** Memory of a chunk beyond its bytes, counted because a client may send chunks of one byte. */
const chunkOverheadBytes = 128;

/** The bytes of a body, or the reason why it was not read. */
type ReadBody = Buffer | "too-large" | "no-memory";

/** Reads a small body. It counts against the memory budget of all requests: clients that have not
 *  logged in may send bodies, too. A body without progress is ended
 *  (`http/limits/connections.ts`). */
async function readBody(
  message: IncomingMessage,
  memory: MemoryBudget | undefined,
  bytesMax: number,
): Promise<ReadBody> {
  const body = new RequestBody(message, memory);
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.length;
      if (length > bytesMax) return "too-large";
      if (!body.hold(chunk.length + chunkOverheadBytes)) return "no-memory";
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, length);
  } finally {
    body.release();
  }
}

/** Rejects requests with the header Origin, which only browsers send: a web page must not be able
 *  to copy, replace or delete all data. */
export function refusePage({ headers }: Pick<AdminRequest, "headers">): AdminResponse | undefined {
  if (headers.origin === undefined) return undefined;
  return refuse(403, "NotFromAPage", "not allowed from a page");
}
