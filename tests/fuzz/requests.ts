import type { Operation } from "../../src/operation/operation.ts";
import { accountSas, version } from "../harness/raw-client.ts";
import type { Random } from "../verify/random.ts";
import { nastyBody, nastyName, nastyValue } from "./nasty.ts";
import type { RawRequest } from "./raw-socket.ts";

const account = "/devstoreaccount1";
const sas = accountSas();

/** Paths of each kind of resource, some of which do not exist. */
const places: Readonly<Record<string, readonly string[]>> = {
  service: ["/"],
  container: ["/fuzz", "/missing"],
  blob: ["/fuzz/block", "/fuzz/page", "/fuzz/append", "/fuzz/missing"],
  batch: ["/", "/$batch", "/fuzz"],
  queue: ["/fuzz", "/missing"],
  messages: ["/fuzz/messages", "/missing/messages"],
  message: ["/fuzz/messages/11111111-2222-3333-4444-555555555555"],
  tables: ["/Tables", "/Tables()"],
  table: ["/fuzztable", "/Tables('fuzztable')", "/Tables('missing')"],
  entities: ["/fuzztable", "/fuzztable()", "/missing()"],
  entity: ["/fuzztable(PartitionKey='p',RowKey='r')", "/fuzztable(PartitionKey='',RowKey='x')"],
  share: ["/fuzz", "/missing"],
  directory: ["/fuzz", "/fuzz/folder", "/fuzz/missing"],
  file: ["/fuzz/file", "/fuzz/folder/file", "/fuzz/missing"],
  entry: ["/fuzz/file", "/fuzz/folder"],
};

const tableResources = new Set(["tables", "table", "entities", "entity"]);
const everyRequestMayHave = [
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
  "x-ms-lease-id",
  "x-ms-range",
  "range",
  "content-md5",
  "x-ms-content-crc64",
  "content-type",
  "content-encoding",
  "accept",
  "origin",
  "x-ms-client-request-id",
  "x-ms-meta-a",
  "x-ms-meta-",
  "x-ms-copy-source",
  "x-ms-date",
  "prefer",
  "x-http-method",
];

/** A request for the operation with some invalid parts. */
export function fuzzedRequest(operation: Operation, random: Random): RawRequest {
  const { route, params } = operation;
  const method = typeof route.method === "string" ? route.method : random.pick(route.method);
  const sources = Object.values(params).flatMap((param) => param.sources);
  const query = new Map<string, string>();
  const headers = new Map<string, string>([["x-ms-version", version]]);
  for (const [name, value] of Object.entries(route.query ?? {})) {
    query.set(name, value === true ? nastyValue(random) : value);
  }
  for (const [name, value] of Object.entries(route.headers ?? {})) {
    if (value !== false) headers.set(name, value === true ? nastyValue(random) : value);
  }
  for (const source of sources) {
    if (!random.chance(0.4)) continue;
    if (source.startsWith("?")) query.set(source.slice(1), nastyValue(random));
    else headers.set(source.replace(/[^\w-]/g, "x"), nastyValue(random));
  }
  if (tableResources.has(route.resource) && random.chance(0.9)) {
    headers.set("content-type", "application/json").set("accept", "application/json");
  }
  if (random.chance(0.3)) headers.set(random.pick(everyRequestMayHave), nastyValue(random));
  if (random.chance(0.03)) headers.set("x-ms-version", nastyValue(random));
  const body = random.chance(0.5) || method === "GET" ? Buffer.alloc(0) : nastyBody(random);
  headers.set("content-length", String(body.length));
  const target = `${account}${pathFor(route.resource, random)}${queryText(query, random)}`;
  return {
    method: methodFor(method, random),
    target: latin1(target),
    headers: clean(headers),
    body,
  };
}

function methodFor(method: string, random: Random): string {
  return random.chance(0.03) ? random.pick(["PATCH", "TRACE", "MERGE", "OPTIONS", "HEAD"]) : method;
}

function pathFor(resource: string, random: Random): string {
  const path = random.pick(places[resource] ?? ["/", "/fuzz/x"]);
  if (!random.chance(0.15)) return path;
  return random.chance(0.5) ? `${path}/${nastyName(random)}` : `/${nastyName(random)}`;
}

function queryText(query: ReadonlyMap<string, string>, random: Random): string {
  const pairs = [...query].map(([name, value]) => {
    // Mostly in the correct case.
    const isRaw = random.chance(0.1) && !/[\s#]/.test(value);
    return `${name}=${isRaw ? value : encodeURIComponent(value)}`;
  });
  const signature = random.chance(0.95) ? [sas] : [sas.replace("sig=", "sig=x")];
  return `?${[...pairs, ...signature].join("&")}`;
}

/** One byte per character, as in headers. */
function latin1(text: string): string {
  return text.replaceAll(/[^\u0021-\u00ff]/g, "x");
}

function clean(headers: ReadonlyMap<string, string>): readonly (readonly [string, string])[] {
  return [...headers].map(([name, value]) => [name, value.replaceAll(/[^\u0020-\u00ff]/g, "x")]);
}
