import type { ParamReader } from "../protocol/params.ts";
import type { Query } from "./query-string.ts";
import type { WireRequest } from "./wire.ts";

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
