/** What of a request enters a signature, whatever carried it. */
export interface SignableRequest {
  readonly method: string;
  /** The addressed account, without `-secondary`. */
  readonly account: string;
  /** The path exactly as on the wire: encoded, and with the account if the URL is path-style. */
  readonly rawPath: string;
  /** Decoded names and values; a name may come several times. */
  readonly query: ReadonlyMap<string, readonly string[]>;
  /** Names and values alternately, in the client's spelling, as they came in. */
  readonly rawHeaders: readonly string[];
  /** The x-ms-version, if the request names one. */
  readonly version: string | undefined;
  /** By lower-case name. */
  header(name: string): string | undefined;
}

/** The first value of a query parameter, or an empty text, which signs the same. */
export function queryText(request: SignableRequest, name: string): string {
  return request.query.get(name)?.[0] ?? "";
}
