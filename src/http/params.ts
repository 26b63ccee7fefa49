import type { ParamReader } from "../protocol/params.ts";
import type { WireRequest } from "./wire.ts";
import { fail, ok } from "../protocol/result.ts";
import type { Result } from "../protocol/result.ts";
import { RecentMap } from "../encoding/recent-map.ts";

/** Lets parameter parsers read a request. */
export class RequestParams implements ParamReader {
  readonly version: string;
  readonly #request: WireRequest;
  readonly #query: Query;

  constructor(request: WireRequest, query: Query, version: string) {
    this.version = version;
    this.#request = request;
    this.#query = query;
  }

  header(lowerName: string): string | undefined {
    return this.#request.headers[lowerName];
  }

  query(lowerName: string): string | undefined {
    return this.#query.get(lowerName);
  }

  *headersWith(prefix: string): Iterable<readonly [name: string, value: string]> {
    const { rawHeaders } = this.#request;
    for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
      const name = rawHeaders[at]!;
      if (name.length >= prefix.length && name.slice(0, prefix.length).toLowerCase() === prefix) {
        yield [name, rawHeaders[at + 1]!];
      }
    }
  }
}

/** Decoded query parameters by lower-case name. Of a repeated parameter operations use the first
 *  value; signatures contain all. */
export class Query {
  readonly values: ReadonlyMap<string, readonly string[]>;

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.values = values;
  }

  get(name: string): string | undefined {
    return this.values.get(name)?.[0];
  }
}

/** Limit of this server. */
export const queryParametersMax = 128;

const noQuery = ok(new Query(new Map()));

/** Cache of parsed queries: a client repeats its parameters, including the signature. Saves 20 % of
 *  the CPU time of a read. */
const recentQueries = new RecentMap<Result<Query>>(1024);
/** Longer queries are not cached; in UTF-16 code units. */
const recentUnitsMax = 1024;

export function parseQuery(text: string): Result<Query> {
  if (text === "") return noQuery;
  if (text.length > recentUnitsMax) return parseAnew(text);
  const recent = recentQueries.get(text);
  if (recent !== undefined) return recent;
  const parsed = parseAnew(text);
  recentQueries.set(text, parsed);
  return parsed;
}

function parseAnew(text: string): Result<Query> {
  const parts = text.split("&");
  if (parts.length > queryParametersMax) return fail("InvalidUri");
  const values = new Map<string, string[]>();
  for (const part of parts) {
    if (part === "") continue;
    const equals = part.indexOf("=");
    const name = decode(equals < 0 ? part : part.slice(0, equals))?.toLowerCase();
    const value = equals < 0 ? "" : decode(part.slice(equals + 1));
    if (name === undefined || value === undefined) return fail("InvalidUri");
    const present = values.get(name);
    if (present === undefined) values.set(name, [value]);
    else present.push(value);
  }
  return ok(new Query(values));
}

function decode(text: string): string | undefined {
  if (!text.includes("%") && !text.includes("+")) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
