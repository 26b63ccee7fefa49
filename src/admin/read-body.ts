import type { IncomingMessage } from "node:http";
import type { MemoryBudget } from "../base/memory-budget.ts";
import { RequestBody } from "../http/request-body.ts";

/** Memory that a chunk takes beside its bytes. */
const chunkOverheadBytes = 128;

/** The bytes of a body, or why it was not read. */
export type ReadBody = Buffer | "too-large" | "no-memory";

/** Reads a small body. It counts against the memory budget of all requests: clients that have not
 *  logged in may send bodies, too. A body without progress is ended (`http/connections.ts`). */
export async function readBody(
  message: IncomingMessage,
  memory: MemoryBudget | undefined,
  bytesMax: number,
): Promise<ReadBody> {
  const body = new RequestBody(message, memory);
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.length;
      if (length > bytesMax) return "too-large";
      if (!body.hold(chunk.length + chunkOverheadBytes)) return "no-memory";
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, length);
  } finally {
    body.release();
  }
}
