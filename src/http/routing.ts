import { invalidHeader, invalidQuery, missingHeader } from "../protocol/faults.ts";
import type { Method, Operation } from "../operation/operation.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { Query } from "./query-string.ts";

/** Finds the operation of a request. Compiled once from the declarations. */
export type Router = (request: RoutedRequest) => Result<Operation>;

export interface RoutedRequest {
  readonly resource: string;
  readonly method: string;
  readonly version: string;
  readonly query: Query;
  readonly header: (name: string) => string | undefined;
}

/** Compiles the routes of operations. Among routes with equally many requirements, the first
 *  declared one is used. */
export function compileRoutes(operations: readonly Operation[]): Router {
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    for (const method of methodsOf(operation)) {
      const { resource, query } = operation.route;
      const key = groupKey(resource, method, fixed(query, "comp"), fixed(query, "restype"));
      const group = groups.get(key) ?? [];
      group.push(operation);
      groups.set(
        key,
        group.toSorted((a, b) => specificity(b) - specificity(a)),
      );
    }
  }
  return (request) => {
    const { resource, method, query } = request;
    // A preflight request repeats the query of the request that it precedes.
    const selecting = method === "OPTIONS" ? undefined : query;
    const comp = selecting?.get("comp")?.toLowerCase() ?? "";
    const restype = selecting?.get("restype")?.toLowerCase() ?? "";
    const group = groups.get(groupKey(resource, method, comp, restype));
    if (group === undefined) return noRoute(groups, request, comp, restype);
    for (const operation of group) if (selects(operation, request)) return ok(operation);
    return missingSelector(group, request);
  };
}

function methodsOf({ route }: Operation): readonly Method[] {
  return typeof route.method === "string" ? [route.method] : route.method;
}

function fixed(query: Operation["route"]["query"], name: string): string {
  const value = query?.[name];
  return typeof value === "string" ? value.toLowerCase() : "";
}

function groupKey(resource: string, method: string, comp: string, restype: string): string {
  return `${resource} ${method} ${comp} ${restype}`;
}

/** The number of requirements of a route: routes with more of them are tried first. */
function specificity({ route }: Operation): number {
  const accepts = route.accepts === undefined ? 0 : 1;
  return Object.keys(route.query ?? {}).length + Object.keys(route.headers ?? {}).length + accepts;
}

function selects({ route, since }: Operation, { query, header, version }: RoutedRequest): boolean {
  for (const [name, wanted] of Object.entries(route.query ?? {})) {
    const value = query.get(name);
    if (value === undefined) return false;
    if (wanted !== true && value.toLowerCase() !== wanted.toLowerCase()) return false;
  }
  for (const [name, wanted] of Object.entries(route.headers ?? {})) {
    const value = header(name);
    if (typeof wanted === "boolean" ? (value !== undefined) !== wanted : value === undefined) {
      return false;
    }
    if (typeof wanted === "string" && value?.toLowerCase() !== wanted.toLowerCase()) return false;
  }
  if (route.accepts === undefined) return true;
  return version >= since && names(header("accept") ?? "", route.accepts);
}

/** Whether an `Accept` header contains a media type. Wildcards and types with `q=0` do not
 *  count. */
function names(accept: string, type: string): boolean {
  return accept.split(",").some((part) => {
    const [named = "", ...parameters] = part.toLowerCase().split(";");
    const refused = parameters.some((parameter) => /^\s*q\s*=\s*0(\.0*)?\s*$/.test(parameter));
    return named.trim() === type && !refused;
  });
}

/** The fault if operations exist for this method and query, but the header that distinguishes them
 *  is missing or invalid; undefined otherwise. */
function missingSelector(
  group: readonly Operation[],
  { header }: RoutedRequest,
): Result<Operation> {
  for (const operation of group) {
    for (const [name, wanted] of Object.entries(operation.route.headers ?? {})) {
      if (wanted === false) continue;
      const value = header(name);
      return value === undefined ? missingHeader(name) : invalidHeader(name, value);
    }
  }
  return fail("InvalidUri");
}

const otherMethods: readonly Method[] = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "MERGE"];

function noRoute(
  groups: ReadonlyMap<string, unknown>,
  { resource }: RoutedRequest,
  comp: string,
  restype: string,
): Result<Operation> {
  const known = otherMethods.some((other) => groups.has(groupKey(resource, other, comp, restype)));
  if (known) return fail("UnsupportedHttpVerb");
  if (comp !== "") return invalidQuery("comp", comp);
  if (restype !== "") return invalidQuery("restype", restype);
  // A request for the service itself needs `comp`.
  return resource === "service" ? invalidQuery("comp", "", "") : fail("UnsupportedHttpVerb");
}
