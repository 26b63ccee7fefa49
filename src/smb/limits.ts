/** Limits that keep one client from exhausting the server. A limit is per connection unless its
 *  comment says otherwise. */

/** Most bytes that one request reads, writes or queries: MaxTransactSize, MaxReadSize and
 *  MaxWriteSize of the NEGOTIATE response. */
export const transactBytesMax = 8 * 1024 * 1024;
/** Limit of a frame, a WRITE with its headers; a longer one closes the connection. */
export const frameBytesMax = transactBytesMax + 64 * 1024;
/** Frame limit before the first login on a connection: strangers must not take much memory. */
export const unauthenticatedFrameBytesMax = 128 * 1024;
/** Bytes of all received requests, queued or running, or of their responses if these may be larger.
 *  While there are more, the socket is not read. */
export const inFlightBytesMax = 64 * 1024 * 1024;
/** Bytes of finished responses that the socket has not sent yet. While there are more, the socket
 *  is not read. */
export const unsentBytesMax = 64 * 1024 * 1024;
/** Bytes of running requests, or of their responses if these may be larger, and of unsent
 *  responses. While there are more, queued requests do not start. */
export const connectionTrafficBytesMax = 32 * 1024 * 1024;
/** Like `connectionTrafficBytesMax`, for all connections, if the process has no memory budget. */
export const serverTrafficBytesMax = 256 * 1024 * 1024;
/** A connection without such bytes may start a request of up to this size even if the others have
 *  reached that limit, so that clients that read their responses are served. */
export const smallTrafficBytesMax = 256 * 1024;
/** A client that receives no complete response for this long, although one waits for it, is
 *  disconnected. */
export const unreadMillisecondsMax = 120_000;
/** Limit of the connections (channels) per session; a client cannot bind a further one. */
export const channelsMax = 32;
/** Limits of the sessions of a connection, and of the tree connects and handles of a session. More
 *  are rejected with STATUS_INSUFFICIENT_RESOURCES. */
export const sessionsMax = 64;
export const treesMax = 1024;
export const handlesMax = 65_536;
/** Limit of the pending requests: those that wait, after an interim response. */
export const pendingRequestsMax = 1024;
/** Total length of the frames that contain pending requests. A frame counts in full, with the other
 *  requests of its compound. Beyond this limit or `pendingRequestsMax`, no further request becomes
 *  pending. */
export const pendingBytesMax = 64 * 1024 * 1024;
/** Idle time after which TCP keep-alive probes begin, which detect clients that have crashed. */
export const keepAliveMilliseconds = 60_000;
/** A connection on which no login has succeeded after this time is closed. */
export const loginMillisecondsMax = 30_000;
