import { done, failed, type Failure, type Result } from "../result.ts";
import { createStore } from "../store.ts";

/** Set after a response with status 401: the page then shows the login dialog, and reloads after
 *  the login. */
export const loginWanted = createStore(false);

/** Required by the admin API. Pages of other sites cannot send it without a CORS preflight. */
const ownHeader = { "x-etagere-admin": "1" };
const jsonType = { "content-type": "application/json" };

interface AdminCall {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/** Calls the admin API below `/admin/v1/`. Errors are returned as failures, never thrown. */
export async function admin<T>(path: string, call: AdminCall = {}): Promise<Result<T>> {
  const words = Object.entries(call.query ?? {}).flatMap(([name, value]) =>
    value === undefined ? [] : [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`],
  );
  const method = call.method ?? "GET";
  let response: Response;
  try {
    response = await fetch(`/admin/v1/${path}${words.length === 0 ? "" : `?${words.join("&")}`}`, {
      method,
      headers: method === "GET" ? ownHeader : { ...ownHeader, ...jsonType },
      body: call.body === undefined ? null : JSON.stringify(call.body),
      signal: call.signal ?? null,
      cache: "no-store",
    });
  } catch {
    const message = "Server not reachable";
    return failed({ status: 0, code: "Unreachable", message });
  }
  if (response.status === 401) loginWanted.set(true);
  const parsed = response.status === 204 ? undefined : await response.json().catch(() => undefined);
  const isWhole = parsed !== undefined || response.status === 204;
  return response.ok && isWhole ? done(parsed as T) : failed(failureIn(response.status, parsed));
}

function failureIn(status: number, parsed: unknown): Failure {
  const error = (parsed as { error?: { code?: string; message?: string } } | undefined)?.error;
  const message = error?.message ?? `Server responded with ${status}`;
  return { status, code: error?.code ?? `Status${status}`, message };
}
