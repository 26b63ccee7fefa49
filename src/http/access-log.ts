/** The fields of one line of the access log. */
export interface AccessLogEntry {
  readonly remoteAddress: string;
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly status: number;
  readonly contentLength: string | undefined;
}

/** Called once per response; undefined if there is no access log. */
export type WriteAccess = ((entry: AccessLogEntry) => void) | undefined;
