/** What a server does that knows nothing of storage services:
 *  empty: takes in a body and says 201;
 *  content: answers 1 KiB from memory;
 *  stream: writes a body to a file, sums it up (MD5), flushes, says 201;
 *  pread: reads a file into a socket. */
export const plainModes = ["empty", "content", "stream", "pread"] as const;
export type PlainMode = (typeof plainModes)[number];
