import { loginWanted } from "../admin/call.ts";
import { accessTo } from "../admin/sas.ts";
import { ownLease } from "./own-leases.ts";
import { done, failed, mapped, type Failure, type Result } from "../result.ts";

export type Service = "blob" | "queue" | "table" | "file" | "dfs";

const restVersion = "2026-02-06";

interface Call {
  readonly method?: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: BodyInit;
  readonly signal?: AbortSignal | undefined;
  /** Called while the body is sent. */
  readonly onSent?: ((bytes: number) => void) | undefined;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The complete body: a connection lost in the middle is a failure of the call. */
  readonly body: ArrayBuffer;
}

export function bodyText({ body }: Answer): string {
  return new TextDecoder().decode(body);
}

/** A name, in which `/` separates segments, or a segment that is already escaped. */
export type PathPart = string | { readonly escaped: string };

/** The URL of a resource on the gateway of this server; `path` is the account and names, not
 *  escaped. */
function storageUrl(
  service: Service,
  path: readonly PathPart[],
  query: Call["query"] = {},
): string {
  const address = path.map(escape).join("/");
  const words = queryWords(query);
  const search = words.length === 0 ? "" : `?${words.join("&")}`;
  return `/storage/${service}/${address}${search}`;
}

function queryWords(query: NonNullable<Call["query"]>): readonly string[] {
  return Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
}

function escape(part: PathPart): string {
  if (typeof part !== "string") return part.escaped;
  return part.split("/").map(encodeURIComponent).join("/");
}

/** The headers of a request; a failure if a value is outside Latin-1, for which browsers throw. */
function headersOf(given: NonNullable<Call["headers"]>): Result<Headers> {
  const headers = new Headers({ "x-ms-version": restVersion });
  for (const [name, value] of Object.entries(given)) {
    try {
      if (value !== undefined) headers.set(name, value);
    } catch {
      const message = `${name} holds letters that a header cannot carry`;
      return failed({ status: 0, code: "InvalidHeader", message });
    }
  }
  return done(headers);
}

function send(url: string, headers: Headers, call: Call): Promise<Response> {
  const { method = "GET", body = null, signal = null, onSent } = call;
  if (onSent !== undefined) return sendWithProgress(url, headers, call);
  return fetch(url, { method, headers, body, signal, cache: "no-store" });
}

/** Sends a body with XMLHttpRequest, because fetch does not report how much was sent. */
function sendWithProgress(url: string, headers: Headers, call: Call): Promise<Response> {
  const { method = "GET", body, signal, onSent } = call;
  return new Promise((resolve, reject) => {
    const sending = new XMLHttpRequest();
    let isSent = false;
    // A request that was sent completely may be carried out: only its response says so.
    const stop = (): void => {
      if (!isSent) sending.abort();
    };
    sending.open(method, url);
    for (const [name, value] of headers) sending.setRequestHeader(name, value);
    sending.upload.addEventListener("progress", ({ loaded }) => onSent?.(loaded));
    sending.upload.addEventListener("load", () => {
      isSent = true;
    });
    sending.addEventListener("load", () => {
      const text = sending.status === 204 ? null : sending.responseText;
      resolve(new Response(text, { status: sending.status, headers: headersIn(sending) }));
    });
    sending.addEventListener("error", () => reject(new TypeError("the request failed")));
    sending.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
    sending.addEventListener("loadend", () => signal?.removeEventListener("abort", stop));
    if (signal?.aborted === true) return reject(new DOMException("", "AbortError"));
    signal?.addEventListener("abort", stop);
    sending.send((body ?? null) as XMLHttpRequestBodyInit | null);
  });
}

function headersIn(sent: XMLHttpRequest): Headers {
  const lines = sent.getAllResponseHeaders().trim().split("\r\n");
  return new Headers(
    lines.flatMap((line): [string, string][] => {
      const cut = line.indexOf(": ");
      return cut < 0 ? [] : [[line.slice(0, cut), line.slice(cut + 2)]];
    }),
  );
}

/** Writes carry the lease that this page holds on their target, unless they name one. */
function leaseFor(service: Service, path: readonly PathPart[], call: Call): string | undefined {
  const { method = "GET", query = {}, headers = {} } = call;
  const isWrite = method === "PUT" || method === "DELETE" || method === "PATCH";
  const isOfBase = query["snapshot"] === undefined && query["versionid"] === undefined;
  if (!isWrite || !isOfBase || query["comp"] === "lease") return undefined;
  if (headers["x-ms-lease-id"] !== undefined) return undefined;
  const names = path.filter((part) => typeof part === "string");
  return ownLease(service === "dfs" ? "blob" : service, names);
}

/** One call of the public REST API. Errors are returned as failures, never thrown. */
export async function request(
  service: Service,
  path: readonly [string, ...PathPart[]],
  call: Call = {},
): Promise<Result<Answer>> {
  const response = await respond(service, path, call);
  if (!response.ok) return response;
  const { status, headers } = response.value;
  try {
    return done({ status, headers, body: await response.value.arrayBuffer() });
  } catch (error) {
    return failed(unreachable(error));
  }
}

interface StreamedAnswer {
  readonly headers: Headers;
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
}

/** As `request`; the body is read while it arrives, so that its size does not matter. */
export async function requestStream(
  service: Service,
  path: readonly [string, ...PathPart[]],
  call: Call = {},
): Promise<Result<StreamedAnswer>> {
  return mapped(await respond(service, path, call), ({ headers, body }) => ({
    headers,
    body: body ?? new ReadableStream({ start: (controller) => controller.close() }),
  }));
}

async function respond(
  service: Service,
  [account, ...rest]: readonly [string, ...PathPart[]],
  call: Call,
): Promise<Result<Response>> {
  const headers = headersOf(call.headers ?? {});
  if (!headers.ok) return headers;
  const lease = leaseFor(service, [account, ...rest], call);
  if (lease !== undefined) headers.value.set("x-ms-lease-id", lease);
  const access = await accessTo(account);
  if (!access.ok) return access;
  const url = storageUrl(service, [account, ...rest], call.query);
  try {
    const target = `${url}${url.includes("?") ? "&" : "?"}${access.value.query}`;
    const response = await send(target, headers.value, call);
    if (response.ok) return done(response);
    const failure = await failureOf(response);
    // This code comes from the gateway: the login of the explorer has ended. Services have other
    // codes.
    if (failure.code === "LoginRequired") loginWanted.set(true);
    return failed(failure);
  } catch (error) {
    return failed(unreachable(error));
  }
}

/** The address of an object as a copy or rename source. The server recognises itself by the host
 *  of this page, so that it does not fetch from itself over the network. */
export async function sourceAddress(
  [account, ...rest]: readonly [string, ...string[]],
  query: Call["query"] = {},
): Promise<Result<string>> {
  const access = await accessTo(account);
  return mapped(access, ({ query: signature }) => {
    const path = [account, ...rest].map(escape).join("/");
    const words = queryWords(query);
    return `${location.origin}/${path}?${[...words, signature].join("&")}`;
  });
}

export function unreachable(error: unknown): Failure {
  const wasCancelled = error instanceof DOMException && error.name === "AbortError";
  return wasCancelled
    ? { status: 0, code: "Cancelled", message: "Cancelled" }
    : { status: 0, code: "Unreachable", message: "Server not reachable" };
}

/** Reads the error in a response: XML for blob, queue and file, JSON for tables and dfs, headers
 *  only for HEAD. */
async function failureOf(response: Response): Promise<Failure> {
  const text = await response.text().catch(() => "");
  const inText =
    /<Code>([^<]*)<\/Code>/.exec(text)?.[1] ?? /"code"\s*:\s*"([^"]*)"/.exec(text)?.[1];
  const code = response.headers.get("x-ms-error-code") ?? inText ?? `Status${response.status}`;
  const message =
    /<Message>([^<]*)/.exec(text)?.[1] ??
    /"(?:value|message)"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  const firstLine = (message ?? "").replaceAll("\\n", "\n").split("\n", 1)[0] ?? "";
  const known = firstLine === "" ? wordsOfStatus(response.status) : firstLine;
  return { status: response.status, code, message: known };
}

function wordsOfStatus(status: number): string {
  if (status === 404) return "The resource does not exist";
  if (status === 412) return "The resource was changed by another client";
  if (status === 409) return "The state of the resource does not allow this";
  if (status === 401 || status === 403) return "No permission";
  return `Server responded with ${status}`;
}
