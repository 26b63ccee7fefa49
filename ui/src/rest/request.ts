import { loginWanted } from "../admin/call.ts";
import { accessTo } from "../admin/sas.ts";
import { failed, done, type Failure, type Result } from "../result.ts";

export type Service = "blob" | "queue" | "table" | "file" | "dfs";

export const restVersion = "2026-02-06";

export interface Call {
  readonly method?: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: BodyInit;
  readonly signal?: AbortSignal | undefined;
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
export function storageUrl(
  service: Service,
  path: readonly PathPart[],
  query: Call["query"] = {},
): string {
  const place = path.map(escape).join("/");
  const words = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  const search = words.length === 0 ? "" : `?${words.join("&")}`;
  return `/storage/${service}/${place}${search}`;
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

/** One call of the public REST API. Errors are returned as failures, never thrown. */
export async function request(
  service: Service,
  [account, ...rest]: readonly [string, ...PathPart[]],
  call: Call = {},
): Promise<Result<Answer>> {
  const headers = headersOf(call.headers ?? {});
  if (!headers.ok) return headers;
  const access = await accessTo(account);
  if (!access.ok) return access;
  const url = storageUrl(service, [account, ...rest], call.query);
  try {
    const response = await fetch(`${url}${url.includes("?") ? "&" : "?"}${access.value.query}`, {
      method: call.method ?? "GET",
      headers: headers.value,
      body: call.body ?? null,
      signal: call.signal ?? null,
      cache: "no-store",
    });
    if (!response.ok) {
      const failure = await failureOf(response);
      // This code comes from the gateway: the login of the explorer has ended. Services have other
      // codes.
      if (failure.code === "LoginRequired") loginWanted.set(true);
      return failed(failure);
    }
    const body = await response.arrayBuffer();
    return done({ status: response.status, headers: response.headers, body });
  } catch (error) {
    return failed(unreachable(error));
  }
}

export function unreachable(error: unknown): Failure {
  const wasCancelled = error instanceof DOMException && error.name === "AbortError";
  return wasCancelled
    ? { status: 0, code: "Cancelled", message: "Cancelled" }
    : { status: 0, code: "Unreachable", message: "Server not reachable" };
}

/** Reads the error in a response: XML for blob, queue and file, JSON for tables and dfs, headers
 *  only for HEAD. */
export async function failureOf(response: Response): Promise<Failure> {
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
