import type { IncomingMessage, ServerResponse } from "node:http";
import type { AdminResponse } from "./admin-response.ts";
import type { Checks } from "./inputs.ts";
import type { AdminRequest, AdmittedRequest, CheckedRequest } from "./request.ts";

export type PathValues = Readonly<Record<string, string>>;

/**
 * Who may call a route. `open`: also without a login. `account`: an account key is enough, and the
 * route sees the accounts that the caller administers, no others. `server`: the admin token only.
 * `metrics`: as `server`, but on a loopback address without a login.
 */
export type Access = "open" | "account" | "server" | "metrics";

interface Guarded {
  /** A segment such as `:name` stands for any one, a last one `*` for any number. */
  readonly path: string;
  readonly access: Access;
}

export interface Route extends Guarded {
  readonly method: "GET" | "POST" | "DELETE";
  /** The parameters of its address; without it, whatever is there is passed over. */
  readonly query?: Checks;
  /** The fields of its body; without it, the route looks at them itself. */
  readonly body?: Checks;
  readonly answer: (
    request: CheckedRequest,
    values: PathValues,
  ) => Promise<AdminResponse> | AdminResponse;
}

/** A route that writes its response itself. */
export interface RawRoute extends Guarded {
  readonly method: "GET" | "*";
  /** Undefined if it has taken the response, `unknown` if there is nothing at the path. */
  readonly serve: (call: RawCall) => AdminResponse | "unknown" | undefined;
}

export interface RawCall {
  readonly request: AdmittedRequest;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
}

export type AnyRoute = Route | RawRoute;

export type Matched =
  | { readonly route: AnyRoute; readonly values: PathValues }
  /** The path exists, but not with this method. */
  | { readonly allow: string }
  | undefined;

export function matchRoute(
  routes: readonly AnyRoute[],
  { method, path }: Pick<AdminRequest, "method" | "path">,
): Matched {
  const allowed: string[] = [];
  for (const route of routes) {
    const values = valuesOf(route.path, path);
    if (values === undefined) continue;
    const methods = methodsOf(route);
    if (methods.includes(method) || route.method === "*") return { route, values };
    allowed.push(...methods);
  }
  return allowed.length === 0 ? undefined : { allow: allowed.join(", ") };
}

function methodsOf(route: AnyRoute): readonly string[] {
  return route.method === "GET" && "answer" in route ? ["GET", "HEAD"] : [route.method];
}

function valuesOf(pattern: string, path: string): PathValues | undefined {
  const parts = pattern.split("/");
  const given = path.split("/");
  const isOpenEnded = parts.at(-1) === "*";
  if (isOpenEnded) parts.pop();
  if (isOpenEnded ? given.length < parts.length : given.length !== parts.length) return undefined;
  const values: Record<string, string> = {};
  for (const [index, part] of parts.entries()) {
    const segment = given[index] ?? "";
    if (part.startsWith(":")) values[part.slice(1)] = decoded(segment);
    else if (part !== segment) return undefined;
  }
  return values;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
