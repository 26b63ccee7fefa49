/** The parts of a request that a signature may cover: the input of the strings to sign
 *  (`shared-key.ts`, `sas-text.ts`). */
export interface SignableRequest {
  readonly method: string;
  /** The addressed account, without `-secondary`. */
  readonly account: string;
  /** The path exactly as on the wire: encoded, and with the account if the URL is path-style. */
  readonly rawPath: string;
  /** Decoded names and values; a name may occur several times. */
  readonly query: ReadonlyMap<string, readonly string[]>;
  /** Names and values alternating, in the client's spelling and order. */
  readonly rawHeaders: readonly string[];
  /** The x-ms-version; undefined if the request has none. */
  readonly version: string | undefined;
  /** A header by lower-case name. */
  header(name: string): string | undefined;
}

/** The first value of a query parameter; an empty string if it is absent, which is signed in the
 *  same way. */
export function queryText(request: SignableRequest, name: string): string {
  return request.query.get(name)?.[0] ?? "";
}
