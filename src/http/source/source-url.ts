import { invalidHeader, missingHeader } from "../../protocol/faults.ts";
import { copySource } from "../../protocol/named-resource.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { WireRequest } from "../wire.ts";

/** Limit of this server, in UTF-16 code units. */
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

/** Parses a path below the account, such as `/filesystem/path?signature`. With path-style URLs the
 *  JavaScript client library omits the account in the request URL of a rename and adds it to the
 *  source header instead. */
export function parseSourcePath(
  { headers, target }: WireRequest,
  name: string,
  endpoint: string,
): Result<URL> {
  const text = headers[name] ?? "";
  if (text === "" || text.length > urlUnitsMax) return fail("InvalidSourceUri");
  const account = `${URL.parse(endpoint)?.pathname ?? "/"}/`;
  const hasAccount = !target.startsWith(account) && text.startsWith(account);
  const path = hasAccount ? text.slice(account.length - 1) : text;
  const url = URL.parse(endpoint + (path.startsWith("/") ? path : `/${path}`));
  return url === null ? fail("InvalidSourceUri") : ok(url);
}

const conditionNames = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];

/** The headers of the request for the source: source conditions, and the credentials of the
 *  source. */
export function sourceHeaders({ headers }: WireRequest, version: string): Record<string, string> {
  const sent: Record<string, string> = { "x-ms-version": version };
  for (const name of conditionNames) {
    const value = headers[`x-ms-source-${name}`];
    if (value !== undefined && value !== "") sent[name] = value;
  }
  const keepsDots = headers["x-ms-source-allow-trailing-dot"];
  if (keepsDots !== undefined) sent["x-ms-allow-trailing-dot"] = keepsDots;
  const authorization = headers["x-ms-copy-source-authorization"];
  if (authorization !== undefined) {
    sent["authorization"] = authorization;
    const intent = headers["x-ms-file-request-intent"];
    if (intent !== undefined) sent["x-ms-file-request-intent"] = intent;
  }
  for (const part of ["key", "key-sha256", "algorithm"]) {
    const value = headers[`x-ms-source-encryption-${part}`];
    if (value !== undefined) sent[`x-ms-encryption-${part}`] = value;
  }
  return sent;
}
