import { invalidHeader, missingHeader } from "./faults.ts";
import { fail, ok, type Result } from "./result.ts";

/** Evaluates the CORS rules of a service: for the preflight requests of browsers
 *  (`account/service-resource.ts`), and for the headers of other responses (`http/render.ts`). */

/** One rule of a service's CORS settings. Among origins and headers `*` matches any; `x-ms-meta-*`
 *  matches every header name with this prefix, and `https://*.contoso.com` every subdomain. */
export interface CorsRule {
  readonly allowedOrigins: readonly string[];
  readonly allowedMethods: readonly string[];
  readonly allowedHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  readonly maxAgeSeconds: number;
}

type CorsHeaders = Readonly<Record<string, string>>;

/** The headers of a preflight request; undefined if absent. */
interface Preflight {
  readonly origin: string | undefined;
  readonly method: string | undefined;
  /** Access-Control-Request-Headers as sent. */
  readonly requestHeaders: string | undefined;
}

interface CrossOriginRequest {
  readonly origin: string | undefined;
  readonly method: string;
}

/** Evaluates a preflight request: the headers of its response, or the fault.
 *  learn.microsoft.com/rest/api/storageservices/preflight-blob-request */
export function preflightHeaders(
  rules: readonly CorsRule[],
  request: Preflight,
): Result<CorsHeaders> {
  const { origin, method } = request;
  if (isBlank(origin)) return missingHeader("Origin");
  if (isBlank(method)) return invalidHeader("Access-Control-Request-Method", "");
  const rule = ruleFor(rules, origin, method);
  // If the first matching rule does not allow a header, later rules are not tried.
  if (rule === undefined || !allowsHeaders(rule, namesIn(request.requestHeaders))) {
    return fail("CorsPreflightFailure");
  }
  const headers: Record<string, string> = {
    ...allowOrigin(rule, origin),
    "Access-Control-Allow-Methods": method,
    "Access-Control-Max-Age": String(rule.maxAgeSeconds),
  };
  if (!isBlank(request.requestHeaders)) {
    headers["Access-Control-Allow-Headers"] = request.requestHeaders;
  }
  return ok(headers);
}

const noHeaders: CorsHeaders = {};
const variesByOrigin: CorsHeaders = { Vary: "Origin" };

/** The CORS headers of the response to an actual request, which CORS never rejects. Caches store
 *  the responses to reads, so `Vary` must state whether a response depends on the origin. */
export function corsHeaders(rules: readonly CorsRule[], request: CrossOriginRequest): CorsHeaders {
  if (rules.length === 0) return noHeaders;
  const isRead = request.method === "GET" || request.method === "HEAD";
  const rule = isBlank(request.origin)
    ? isRead && rules.find((each) => allowsAnyOrigin(each) && allowsMethod(each, request.method))
    : ruleFor(rules, request.origin, request.method);
  const varies = isRead ? variesByOrigin : noHeaders;
  if (rule === undefined || rule === false) return varies;
  const headers: Record<string, string> = { ...allowOrigin(rule, request.origin ?? "") };
  if (rule.exposedHeaders.length > 0) {
    headers["Access-Control-Expose-Headers"] = rule.exposedHeaders.join(",");
  }
  return allowsAnyOrigin(rule) ? headers : { ...headers, ...varies };
}

function ruleFor(rules: readonly CorsRule[], origin: string, method: string): CorsRule | undefined {
  return rules.find(
    (rule) =>
      allowsMethod(rule, method) &&
      rule.allowedOrigins.some((allowed) => matchesOrigin(allowed, origin)),
  );
}

/** The headers that allow an origin. With credentials only for a named origin: browsers reject them
 *  together with `*`. */
function allowOrigin(rule: CorsRule, origin: string): CorsHeaders {
  if (allowsAnyOrigin(rule)) return { "Access-Control-Allow-Origin": "*" };
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Credentials": "true",
  };
}

function allowsAnyOrigin(rule: CorsRule): boolean {
  return rule.allowedOrigins.includes("*");
}

/** Whether an origin is allowed. Origins are compared exactly, including case; `*.` matches one or
 *  more leading labels. */
function matchesOrigin(allowed: string, origin: string): boolean {
  if (allowed === "*" || allowed === origin) return true;
  const star = allowed.indexOf("*.");
  if (star === -1) return false;
  const scheme = allowed.slice(0, star);
  const domain = allowed.slice(star + 1);
  return (
    origin.length > scheme.length + domain.length &&
    origin.startsWith(scheme) &&
    origin.endsWith(domain)
  );
}

function allowsMethod(rule: CorsRule, method: string): boolean {
  return rule.allowedMethods.includes(method);
}

function allowsHeaders(rule: CorsRule, names: readonly string[]): boolean {
  return names.every((name) => rule.allowedHeaders.some((allowed) => matchesName(allowed, name)));
}

function matchesName(allowed: string, name: string): boolean {
  const pattern = allowed.trim().toLowerCase();
  const wanted = name.toLowerCase();
  return pattern.endsWith("*") ? wanted.startsWith(pattern.slice(0, -1)) : wanted === pattern;
}

function namesIn(list: string | undefined): readonly string[] {
  return (list ?? "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}

function isBlank(text: string | undefined): text is undefined | "" {
  return text === undefined || text === "";
}
