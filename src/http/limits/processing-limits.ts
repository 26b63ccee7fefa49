import type { Clock } from "../../base/world.ts";
import { ByteLimiter } from "./byte-limiter.ts";
import { LargeResponseLimiter } from "./large-response-limiter.ts";

/** Total length of larger documents that are parsed at the same time. A parsed document takes
 *  several times its length. */
const documentBytesMax = 8 * 1024 * 1024;

/** Total length of the transactions that are processed at the same time: enough to parse some of
 *  them while others are flushed, and few enough for the young generation of the garbage
 *  collector. */
const transactionBytesMax = 640 * 1024;

/** Limits of what is processed at the same time. All services of a server have the same ones,
 *  because they share the memory of the process. */
export interface ProcessingLimits {
  readonly documents: ByteLimiter;
  readonly transactions: ByteLimiter;
  readonly largeResponses: LargeResponseLimiter;
}

export function newProcessingLimits(clock: Clock): ProcessingLimits {
  return {
    documents: new ByteLimiter(documentBytesMax),
    transactions: new ByteLimiter(transactionBytesMax),
    largeResponses: new LargeResponseLimiter(clock),
  };
}
