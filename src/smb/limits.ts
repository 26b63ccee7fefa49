/** What one client may take of the server. */

/** The longest read, write or question, as it is told to clients. */
export const transactBytesMax = 8 * 1024 * 1024;
export const frameBytesMax = transactBytesMax + 64 * 1024;
/** Before a client has logged in it has little to say. */
export const unauthenticatedFrameBytesMax = 128 * 1024;
/** More than this under way, and the client is not read from until some of it is answered. */
export const inFlightBytesMax = 64 * 1024 * 1024;
/** Answers that a client has not taken yet; beyond this it is not read from either. */
export const unsentBytesMax = 64 * 1024 * 1024;
/** Per session: connections that carry it. */
export const channelsMax = 32;
/** Per connection. */
export const sessionsMax = 64;
/** Per session. */
export const treesMax = 1024;
export const handlesMax = 65_536;
/** Per connection: messages that wait for others to do something. */
export const pendingRequestsMax = 1024;
/** Per connection: what those messages, and what follows them in their frames, take of memory. */
export const pendingBytesMax = 64 * 1024 * 1024;
/** A client that says nothing for so long is asked by the system whether it is still there. */
export const keepAliveMilliseconds = 60_000;
/** A client that has not logged in by then is let go. */
export const loginMillisecondsMax = 30_000;
