/** The fields of one line of the access log. */
export interface AccessLogEntry {
  readonly remoteAddress: string;
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly status: number;
  readonly contentLength: string | undefined;
}

/** Writes one line of the access log; called once per response. Undefined if there is no access
 *  log. */
export type WriteAccess = ((entry: AccessLogEntry) => void) | undefined;
