import { setMaxListeners } from "node:events";
import type { AccountPlace } from "../../operation/service.ts";
import { invalidHeader, missingHeader } from "../../protocol/faults.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import { memoByObject } from "../../process/memo.ts";
import { BodyAborted } from "../request/request-body.ts";
import type { ClientConnection, WireRequest } from "../wire.ts";
import type { SourceRequest } from "./source-reader.ts";

/** What the request of a copy says about its source: URL, conditions and credentials, and until
 *  when the client waits. Used by `resolve-source.ts` and `fetch-source.ts`. */

/** Longest URL of a source, in UTF-16 code units: it must have room for a path of 1,024 characters
 *  with escapes, and a SAS. */
const urlUnitsMax = 4096;

/** The first version in which the source must be an absolute URL. */
const absoluteSince = "2012-02-12";

/** Parses the source: an absolute URL or, for renames and in old versions, a path
 *  `/account/container/blob`. */
export function parseSourceUrl(
  { headers, secure }: WireRequest,
  version: string,
  name = copySource.parameter,
): Result<URL> {
  const text = headers[name];
  if (text === undefined || text === "") return missingHeader(name);
  const here = `${secure ? "https" : "http"}://${headers["host"] ?? "localhost"}`;
  const mayBePath = name !== copySource.parameter || version < absoluteSince;
  const whole = mayBePath && text.startsWith("/") ? here + text : text;
  const url = text.length > urlUnitsMax ? null : URL.parse(whole);
  const known = url?.protocol === "http:" || url?.protocol === "https:";
  return url !== null && known ? ok(url) : invalidHeader(name, text);
}

/** What decides whether a path below the account, the source of a rename, starts with the name of
 *  the account. */
interface BelowAccount {
  /** The service URL that the client used. */
  readonly endpoint: string;
  readonly account: string;
  readonly accountPlace: AccountPlace;
}

/** Parses the source of a rename, a path below the account such as `/filesystem/path?signature`,
 *  also if its slashes are escaped. With path-style URLs the Go and JavaScript client libraries
 *  start it with the account, which may also be the name of a filesystem: then both readings are
 *  returned, the likelier one first. The JavaScript library omits the account in the URL of the
 *  request instead. */
export function parseSourcePath(
  text: string,
  { endpoint, account, accountPlace }: BelowAccount,
): Result<readonly URL[]> {
  if (text === "" || text.length > urlUnitsMax) return fail("InvalidSourceUri");
  const path = text.replace(leadingSlashes, "");
  const slash = path.startsWith(account) ? leadingSlashes.exec(path.slice(account.length)) : null;
  const below = slash === null ? undefined : path.slice(account.length + slash[0].length);
  const whole = below !== undefined && accountPlace === "elsewhere" ? [] : [path];
  const readings = below === undefined || accountPlace === "host" ? whole : [...whole, below];
  const urls = readings
    .map((each) => URL.parse(`${endpoint}/${each}`))
    .filter((url) => url !== null);
  return urls.length === 0 ? fail("InvalidSourceUri") : ok(urls);
}

const leadingSlashes = /^(?:\/|%2f)+/i;

/** Headers of a copy request, mapped to the headers with which the source is requested. */
const forwardedHeaders = {
  "x-ms-source-if-match": "if-match",
  "x-ms-source-if-none-match": "if-none-match",
  "x-ms-source-if-modified-since": "if-modified-since",
  "x-ms-source-if-unmodified-since": "if-unmodified-since",
  "x-ms-source-if-tags": "x-ms-if-tags",
  "x-ms-source-allow-trailing-dot": "x-ms-allow-trailing-dot",
  "x-ms-source-encryption-key": "x-ms-encryption-key",
  "x-ms-source-encryption-key-sha256": "x-ms-encryption-key-sha256",
  "x-ms-source-encryption-algorithm": "x-ms-encryption-algorithm",
} as const;

/** All headers that are read to find the source of a copy and to fetch its bytes. */
export const sourceHeaderNames: readonly string[] = [
  ...Object.keys(forwardedHeaders),
  copySource.parameter,
  "x-ms-copy-source-authorization",
  "x-ms-file-request-intent",
];

/** Source conditions and credentials as headers of the request for the source. */
function sourceHeaders({ headers }: WireRequest, version: string): Record<string, string> {
  const sent: Record<string, string> = { "x-ms-version": version };
  for (const [name, becomes] of Object.entries(forwardedHeaders)) {
    const value = headers[name];
    if (value !== undefined && value !== "") sent[becomes] = value;
  }
  const authorization = headers["x-ms-copy-source-authorization"];
  if (authorization !== undefined) {
    sent["authorization"] = authorization;
    const intent = headers["x-ms-file-request-intent"];
    if (intent !== undefined) sent["x-ms-file-request-intent"] = intent;
  }
  return sent;
}

interface SourceUse {
  readonly url: URL;
  readonly method: SourceRequest["method"];
  /** The x-ms-version of the copy, in which the source is requested, too. */
  readonly version: string;
}

/** Returns the request for the source at a URL, with the conditions and credentials that the
 *  request of the copy has for it. */
export function sourceRequestOf(request: WireRequest, { url, method, version }: SourceUse) {
  const { headers, remoteAddress, secure, span } = request;
  const host = headers["host"] ?? "";
  const signal = clientSignal(request);
  return {
    url,
    method,
    headers: sourceHeaders(request, version),
    host,
    remoteAddress,
    secure,
    signal,
    isPart: true,
    span,
  } as const;
}

/** One signal per connection, created with the first copy source: few requests have one, and a
 *  connection may have many requests in progress. */
const signalOf = memoByObject((connection: ClientConnection): AbortSignal => {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  if (connection.destroyed) controller.abort();
  else connection.once("close", () => controller.abort());
  return controller.signal;
});

/** Aborted when the client of a copy closes its connection, so that its source is no longer read;
 *  undefined without a connection. */
function clientSignal({ connection }: WireRequest): AbortSignal | undefined {
  return connection === undefined ? undefined : signalOf(connection);
}

/** Throws if the client has disconnected, so that nothing more is read for it. */
export function requireClient(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new BodyAborted("the client closed during a source read");
}

/** Passes on the chunks of a source; ends with an error when the client disconnects. */
export async function* whileConnected(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    requireClient(signal);
    yield chunk;
  }
}
