import type { AddressedResource, AuthRequest } from "../../src/http/auth/request.ts";
import type { ServiceName } from "../../src/protocol/names.ts";
import { parseHttpDate, parseIso } from "../../src/base/dates.ts";
import type { Ticks } from "../../src/base/ticks.ts";

export const account = "devstoreaccount1";
export const accountKey =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
export const otherKey = "b3RoZXIga2V5IG9mIHRoZSBzYW1lIGFjY291bnQ=";
export const allowed = { sharedKeyAllowed: true, oauth: undefined, versions: "later" } as const;

export interface WireRequest {
  readonly service?: ServiceName;
  readonly method?: string;
  /** Path and query as on the wire. */
  readonly url: string;
  /** Names and values alternately. */
  readonly rawHeaders?: readonly string[];
  readonly account?: string;
  readonly pathStyle?: boolean;
  readonly secure?: boolean;
  readonly remoteAddress?: string;
  readonly wallNow?: Ticks;
}

export const noon = ticks("2026-01-02T12:00:00Z");

export function ticks(text: string): Ticks {
  const moment = parseIso(text);
  if (moment === undefined) throw new Error(`not a moment: ${text}`);
  return moment;
}

/** A request in the form in which the HTTP server presents it. */
export function requestOf(wire: WireRequest): AuthRequest {
  const rawHeaders = wire.rawHeaders ?? [];
  const [rawPath = "", rawQuery = ""] = splitOnce(wire.url, "?");
  const header = (name: string) => headerIn(rawHeaders, name);
  const date = parseHttpDate(header("x-ms-date") ?? header("date") ?? "");
  const service = wire.service ?? "blob";
  return {
    service,
    method: wire.method ?? "GET",
    account: wire.account ?? account,
    rawPath,
    query: parseQuery(rawQuery),
    rawHeaders,
    version: header("x-ms-version"),
    header,
    resource: resourceOf(rawPath, service, wire.pathStyle ?? false),
    secure: wire.secure ?? false,
    remoteAddress: wire.remoteAddress ?? "127.0.0.1",
    wallNow: wire.wallNow ?? date ?? noon,
  };
}

function headerIn(rawHeaders: readonly string[], name: string): string | undefined {
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() === name) return rawHeaders[index + 1];
  }
  return undefined;
}

function resourceOf(path: string, service: ServiceName, pathStyle: boolean): AddressedResource {
  const segments = path.split("/").slice(pathStyle ? 2 : 1);
  const [first = "", ...rest] = segments.map(decodeURIComponent);
  if (first === "") return {};
  if (service === "table") return tableOf(first);
  if (service === "queue") return { name: first };
  return rest.length === 0 ? { name: first } : { name: first, path: rest.join("/") };
}

function tableOf(segment: string): AddressedResource {
  const name = segment.replace(/\(.*$/, "");
  return name === "Tables" || name === "$batch" ? {} : { name };
}

function parseQuery(rawQuery: string): ReadonlyMap<string, readonly string[]> {
  const query = new Map<string, string[]>();
  for (const part of rawQuery.split("&").filter((each) => each !== "")) {
    const [name = "", value = ""] = splitOnce(part, "=").map(decodeURIComponent);
    query.set(name, [...(query.get(name) ?? []), value]);
  }
  return query;
}

function splitOnce(text: string, mark: string): string[] {
  const index = text.indexOf(mark);
  return index === -1 ? [text] : [text.slice(0, index), text.slice(index + mark.length)];
}
