import { invalidHeader, invalidQuery, missingHeader } from "../../protocol/faults.ts";
import type { Method, Operation } from "../../operation/operation.ts";
import { fail, ok } from "../../protocol/result.ts";
import type { Result } from "../../protocol/result.ts";
import type { Query } from "./target.ts";
import type { WireRequest } from "../wire.ts";

/** Finds the operation of a request by method, resource, query and headers. The server compiles the
 *  routes of a service once, at its start. */

/** Finds the operation of a request, or the fault if there is none. `compileRoutes` makes it from
 *  the operations of a service. */
export type Router = (request: RoutedRequest) => Result<Operation>;

interface RoutedRequest {
  readonly resource: string;
  readonly method: string;
  readonly version: string;
  readonly query: Query;
  readonly headers: WireRequest["headers"];
}

type Wanted = string | boolean;

/** The route of an operation, with the query parameters and headers that it requires as lists, and
 *  the result that selects it. */
interface CompiledRoute {
  readonly found: Result<Operation>;
  readonly query: readonly (readonly [name: string, wanted: Wanted])[];
  readonly headers: readonly (readonly [name: string, wanted: Wanted])[];
  readonly accepts: string | undefined;
  readonly since: string;
}

/** Routes by resource, method, `comp` and `restype`. Nested, because a key of all four would have
 *  to be built for each request. */
type Routes = Map<string, Map<string, Map<string, Map<string, CompiledRoute[]>>>>;

/** Compiles the routes of operations. Among routes with equally many requirements, the first
 *  declared one is used. */
export function compileRoutes(operations: readonly Operation[]): Router {
  const routes: Routes = new Map();
  for (const operation of operations) {
    for (const method of methodsOf(operation)) addRoute(routes, operation, method);
  }
  return (request) => {
    const { resource, method, query } = request;
    // A preflight request repeats the query of the request that it precedes.
    const selecting = method === "OPTIONS" ? undefined : query;
    const comp = selecting?.get("comp")?.toLowerCase() ?? "";
    const restype = selecting?.get("restype")?.toLowerCase() ?? "";
    const group = routes.get(resource)?.get(method)?.get(comp)?.get(restype);
    if (group === undefined) return noRoute(routes, request, comp, restype);
    for (const route of group) if (selects(route, request)) return route.found;
    return missingSelector(group, request);
  };
}

function addRoute(routes: Routes, operation: Operation, method: Method): void {
  const { resource, query = {}, headers = {}, accepts } = operation.route;
  const byMethod = entryOf(routes, resource, () => new Map());
  const byComp = entryOf(byMethod, method, () => new Map());
  const byRestype = entryOf(byComp, fixed(query, "comp"), () => new Map());
  const group: CompiledRoute[] = entryOf(byRestype, fixed(query, "restype"), () => []);
  const { since } = operation;
  const lists = { query: Object.entries(query), headers: Object.entries(headers) };
  group.push({ found: ok(operation), ...lists, accepts, since });
  group.sort((a, b) => specificity(b) - specificity(a));
}

function entryOf<V>(map: Map<string, V>, key: string, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const added = create();
  map.set(key, added);
  return added;
}

function methodsOf({ route }: Operation): readonly Method[] {
  return typeof route.method === "string" ? [route.method] : route.method;
}

function fixed(query: NonNullable<Operation["route"]["query"]>, name: string): string {
  const value = query[name];
  return typeof value === "string" ? value.toLowerCase() : "";
}

/** Number of requirements of a route. Routes with more of them are tried first: others would match
 *  their requests, too. */
function specificity({ query, headers, accepts }: CompiledRoute): number {
  return query.length + headers.length + (accepts === undefined ? 0 : 1);
}

function selects(route: CompiledRoute, { query, headers, version }: RoutedRequest): boolean {
  for (const [name, wanted] of route.query) {
    const value = query.get(name);
    if (value === undefined) return false;
    if (typeof wanted === "string" && value.toLowerCase() !== wanted.toLowerCase()) return false;
  }
  for (const [name, wanted] of route.headers) {
    const value = headers[name];
    if (typeof wanted === "boolean" ? (value !== undefined) !== wanted : value === undefined) {
      return false;
    }
    if (typeof wanted === "string" && value?.toLowerCase() !== wanted.toLowerCase()) return false;
  }
  if (route.accepts === undefined) return true;
  return version >= route.since && names(headers["accept"] ?? "", route.accepts);
}

/** Whether an `Accept` header contains a media type, without wildcards and types with `q=0`. */
function names(accept: string, type: string): boolean {
  return accept.split(",").some((part) => {
    const [named = "", ...parameters] = part.toLowerCase().split(";");
    const refused = parameters.some((parameter) => /^\s*q\s*=\s*0(\.0*)?\s*$/.test(parameter));
    return named.trim() === type && !refused;
  });
}

/** The fault if operations exist for this method and query, but the header that selects among them
 *  is missing or invalid. */
function missingSelector(
  group: readonly CompiledRoute[],
  { headers }: RoutedRequest,
): Result<Operation> {
  for (const route of group) {
    for (const [name, wanted] of route.headers) {
      if (wanted === false) continue;
      const value = headers[name];
      return value === undefined ? missingHeader(name) : invalidHeader(name, value);
    }
  }
  return fail("InvalidUri");
}

const otherMethods: readonly Method[] = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "MERGE"];

function noRoute(
  routes: Routes,
  { resource }: RoutedRequest,
  comp: string,
  restype: string,
): Result<Operation> {
  const byMethod = routes.get(resource);
  const isKnown = otherMethods.some((other) => byMethod?.get(other)?.get(comp)?.has(restype));
  if (isKnown) return fail("UnsupportedHttpVerb");
  if (comp !== "") return invalidQuery("comp", comp);
  if (restype !== "") return invalidQuery("restype", restype);
  // A request for the service itself needs `comp`.
  return resource === "service" ? invalidQuery("comp", "", "") : fail("UnsupportedHttpVerb");
}
