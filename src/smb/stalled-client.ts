import type { Socket } from "node:net";
import type { Framer } from "./framing.ts";
import { unreadMillisecondsMax } from "./limits.ts";
import type { SmbEnvironment } from "./server.ts";

/** Calls `end` if the client neither completes a frame nor reads its responses: both take memory
 *  that other clients need. An idle client is not ended. Returns a function that stops it. */
export function endStalledClient(
  framer: Framer,
  socket: Socket,
  { watchFrames, clock }: Pick<SmbEnvironment, "watchFrames" | "clock">,
  end: () => void,
): () => void {
  watchFrames?.(socket, {
    get isWaiting() {
      return framer.isIncomplete && !socket.isPaused();
    },
    get bytes() {
      return socket.bytesRead;
    },
    end,
  });
  let sentBefore: number | undefined;
  const check = (): void => {
    const sent = socket.bytesWritten - socket.writableLength;
    if (socket.writableLength > 0 && sent === sentBefore) return end();
    sentBefore = sent;
    cancel = clock.after(unreadMillisecondsMax, check);
  };
  let cancel = clock.after(unreadMillisecondsMax, check);
  return () => cancel();
}
