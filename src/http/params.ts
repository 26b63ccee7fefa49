import type { ParamReader } from "../protocol/params.ts";
import type { Query } from "./query-string.ts";
import type { WireRequest } from "./wire.ts";

/** Lets parameter parsers read a request. */
export function paramReader(request: WireRequest, query: Query, version: string): ParamReader {
  return {
    version,
    header: (lowerName) => request.headers[lowerName],
    query: (lowerName) => query.get(lowerName),
    headersWith: (prefix) => headersWith(request.rawHeaders, prefix),
  };
}

function* headersWith(
  rawHeaders: readonly string[],
  prefix: string,
): Iterable<readonly [name: string, value: string]> {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (name.length >= prefix.length && name.slice(0, prefix.length).toLowerCase() === prefix) {
      yield [name, rawHeaders[at + 1]!];
    }
  }
}
