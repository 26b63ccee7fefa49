/** Limits per client. */

/** MaxTransactSize, MaxReadSize and MaxWriteSize of the NEGOTIATE response. */
export const transactBytesMax = 8 * 1024 * 1024;
export const frameBytesMax = transactBytesMax + 64 * 1024;
/** Frame limit until the first session of a connection has authenticated. */
export const unauthenticatedFrameBytesMax = 128 * 1024;
/** Per connection: requests and responses in progress. Beyond it the socket is not read. */
export const inFlightBytesMax = 64 * 1024 * 1024;
/** Per connection: responses the client has not received. Beyond it the socket is not read. */
export const unsentBytesMax = 64 * 1024 * 1024;
/** Per session. */
export const channelsMax = 32;
/** Per connection. */
export const sessionsMax = 64;
/** Per session. */
export const treesMax = 1024;
export const handlesMax = 65_536;
/** Per connection: requests that were answered with an interim response. */
export const pendingRequestsMax = 1024;
/** Per connection: the frames of those requests, later elements of the compounds included. */
export const pendingBytesMax = 64 * 1024 * 1024;
/** Idle time after which TCP keep-alive probes begin. */
export const keepAliveMilliseconds = 60_000;
/** A connection that has not authenticated by then is closed. */
export const loginMillisecondsMax = 30_000;
