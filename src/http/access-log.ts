/** What one line of the access log says of a request. */
export interface AccessLogEntry {
  readonly remoteAddress: string;
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly status: number;
  readonly contentLength: string | undefined;
}

/** Called once per request that has a response; undefined where no log is kept. */
export type WriteAccess = ((entry: AccessLogEntry) => void) | undefined;
