import type { IncomingMessage, ServerResponse } from "node:http";
import type { Awaitable } from "../base/awaitable.ts";
import type { AdminResponse } from "./admin-response.ts";
import type { Checks } from "./inputs.ts";
import type { AdminRequest, AuthenticatedRequest, CheckedRequest } from "./request.ts";
import { decodePercent } from "../protocol/names.ts";

/** The form in which the routes of the admin listener are declared, and `matchRoute`, which finds
 *  the route of a request. `handler.ts` checks a request against the declaration before it calls
 *  the route. */

/** The segments of a path that matched `:name`, by name. */
export type PathValues = Readonly<Record<string, string>>;

/** Who may call a route. `open`: everyone. `account`: an account key suffices, and the route sees
 *  only the accounts that the caller administers. `principal`: as `account`, and principals, to
 *  which the route returns only what their roles allow. `server`: the admin token only. `metrics`:
 *  as `server`, but without a login on a loopback address. */
export type Access = "open" | "account" | "principal" | "server" | "metrics";

interface RouteBase {
  /** A segment `:name` matches any segment; a last segment `*` matches any number of them. */
  readonly path: string;
  readonly access: Access;
}

/** A route that returns its response, which `handler.ts` sends. */
export interface Route extends RouteBase {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Checks of query parameters; undefined: none are accepted. */
  readonly query?: Checks;
  /** Query parameters are not checked: client libraries and probes send parameters of their own. */
  readonly acceptsAnyQuery?: true;
  /** Checks of the body's fields; undefined leaves them to the route. */
  readonly body?: Checks;
  readonly answer: (
    request: CheckedRequest,
    values: PathValues,
  ) => Promise<AdminResponse> | AdminResponse;
}

/** Checks that are made before a route answers. */
type RouteChecks = Pick<Route, "query" | "body" | "acceptsAnyQuery">;

/** Declares a route, as a row of the tables of the views: method and path, who may call it, the
 *  function that answers, and the checks. */
export function declareRoute(
  methodAndPath: `${Route["method"]} /${string}`,
  access: Access,
  answer: Route["answer"],
  checks: RouteChecks = {},
): Route {
  const [method, path] = methodAndPath.split(" ") as [Route["method"], string];
  return { method, path, access, answer, ...checks };
}

/** A route that writes the response itself: event streams, archives and forwarded requests. */
export interface RawRoute extends RouteBase {
  readonly method: "GET" | "POST" | "*";
  /** Returns undefined if it writes the response, `unknown` if the path does not exist. */
  readonly serve: (call: RawCall) => Awaitable<AdminResponse | "unknown" | undefined>;
}

/** What a `RawRoute` gets: the authenticated request, and the objects of Node. */
export interface RawCall {
  readonly request: AuthenticatedRequest;
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
}

export type AnyRoute = Route | RawRoute;

type RouteMatch =
  | { readonly route: AnyRoute; readonly values: PathValues }
  /** The path exists, but not with this method; `allow` lists its methods. */
  | { readonly allow: string }
  | undefined;

/** Finds the route of a request; undefined if no route has the path. */
export function matchRoute(
  routes: readonly AnyRoute[],
  { method, path }: Pick<AdminRequest, "method" | "path">,
): RouteMatch {
  const allowed: string[] = [];
  for (const route of routes) {
    const values = valuesOf(route.path, path);
    if (values === undefined) continue;
    const methods = route.method === "GET" && "answer" in route ? ["GET", "HEAD"] : [route.method];
    if (methods.includes(method) || route.method === "*") return { route, values };
    allowed.push(...methods);
  }
  return allowed.length === 0 ? undefined : { allow: allowed.join(", ") };
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
    if (part.startsWith(":")) values[part.slice(1)] = decodePercent(segment) ?? segment;
    else if (part !== segment) return undefined;
  }
  return values;
}
