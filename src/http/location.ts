import type { ServiceName } from "../protocol/service-name.ts";
import { fail, ok } from "../protocol/result.ts";
import type { Result } from "../protocol/result.ts";
import { parseQuery } from "./params.ts";
import type { Query } from "./params.ts";
import type { WireRequest } from "./wire.ts";

/** What a request addresses: account, path and query. */
export interface Location {
  readonly account: string;
  /** Whether the request addresses the secondary endpoint. */
  readonly secondary: boolean;
  /** Whether the request addresses the static website of the account: `account.web.localhost` or
   *  `/account.web/…`. */
  readonly website: boolean;
  /** The path exactly as in the request line; signatures are computed from it. */
  readonly rawPath: string;
  /** The decoded path below the account, without its leading slash. */
  readonly path: string;
  readonly query: Query;
  /** The service URL as the client used it, e.g. `http://127.0.0.1:10000/account`. */
  readonly endpoint: string;
}

/** How the account is found in a URL. */
export interface LocationOptions {
  readonly service: ServiceName;
  /** Whether the host may name the account: `account.blob.localhost`. Otherwise the first path
   *  segment does. */
  readonly productStyle: boolean;
  readonly isAccount: (name: string) => boolean;
}

const secondarySuffix = "-secondary";
const webSuffix = ".web";

/** Finds account, path and query of a request. */
export function locate(request: WireRequest, options: LocationOptions): Result<Location> {
  const { target } = request;
  const mark = target.indexOf("?");
  const rawPath = pathOf(mark < 0 ? target : target.slice(0, mark));
  const query = parseQuery(mark < 0 ? "" : target.slice(mark + 1));
  if (!query.ok) return query;
  const host = request.headers["host"] ?? "";
  const hostAccount = options.productStyle ? accountOfHost(host, options) : undefined;
  const segment = firstSegment(rawPath);
  const website = hostAccount === undefined ? segment.endsWith(webSuffix) : isWebHost(host);
  const outsidePath =
    hostAccount ??
    accountOfRename(request, segment, options) ??
    accountOfBatch(request, segment, options);
  const named = outsidePath ?? segment;
  const path = decodePath(outsidePath === undefined ? rawPath.slice(named.length + 1) : rawPath);
  if (path === undefined) return fail("InvalidUri");
  const label = website && named.endsWith(webSuffix) ? named.slice(0, -webSuffix.length) : named;
  const secondary = label.endsWith(secondarySuffix);
  const root = `${request.secure ? "https" : "http"}://${host}`;
  return ok({
    account: secondary ? label.slice(0, -secondarySuffix.length) : label,
    secondary,
    website,
    rawPath,
    path: path.startsWith("/") ? path.slice(1) : path,
    query: query.value,
    endpoint: hostAccount === undefined ? `${root}/${named}` : root,
  });
}

/** The path of a request target. Proxies send an absolute URL, whose host is ignored. */
function pathOf(target: string): string {
  if (target.startsWith("/")) return target;
  const match = /^https?:\/\/[^/]*(\/.*)?$/i.exec(target);
  return match?.[1] ?? "/";
}

/** The account in a host such as `account.blob.localhost`; undefined for `127.0.0.1` or
 *  `localhost`. */
function accountOfHost(host: string, { service, isAccount }: LocationOptions): string | undefined {
  const dot = host.indexOf(".");
  if (dot <= 0) return undefined;
  const label = host.slice(0, dot).toLowerCase();
  const account = label.endsWith(secondarySuffix) ? label.slice(0, -secondarySuffix.length) : label;
  const rest = host.slice(dot + 1).toLowerCase();
  const namesService = names(rest, service) || (service === "blob" && names(rest, "dfs"));
  return namesService || isAccount(account) ? label : undefined;
}

function names(rest: string, service: string): boolean {
  return rest === service || rest.startsWith(`${service}.`);
}

function isWebHost(host: string): boolean {
  return /^[^.]+\.web(?:\.|:|$)/i.test(host);
}

/** The account of a rename. The JavaScript client library omits the account in the path, but not in
 *  the source. */
function accountOfRename(
  { headers }: WireRequest,
  segment: string,
  { isAccount }: LocationOptions,
): string | undefined {
  const source = headers["x-ms-file-rename-source"] ?? headers["x-ms-rename-source"];
  if (source === undefined || isAccount(segment)) return undefined;
  const account = firstSegment(pathOf(source));
  return isAccount(account) ? account : undefined;
}

/** The account of a part of a batch. The Java and older Python client libraries omit it in the path
 *  of a part: `DELETE /container/blob` in a batch for `/account?comp=batch`. */
function accountOfBatch(
  { batchAccount }: WireRequest,
  segment: string,
  { isAccount }: LocationOptions,
): string | undefined {
  return batchAccount === undefined || isAccount(segment) ? undefined : batchAccount;
}

function firstSegment(rawPath: string): string {
  const end = rawPath.indexOf("/", 1);
  return end < 0 ? rawPath.slice(1) : rawPath.slice(1, end);
}

function decodePath(path: string): string | undefined {
  if (!path.includes("%")) return path;
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
