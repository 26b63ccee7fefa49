import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { expect, it, vi } from "vitest";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { Framer, framePrefix } from "./framing.ts";
import { unreadMillisecondsMax } from "./limits.ts";
import type { FrameProgress } from "./server.ts";
import { endStalledClient } from "./connection.ts";

class FakeSocket extends EventEmitter {
  bytesRead = 0;
  writableLength = 0;
  isStopped = false;
  bytesWritten = 0;
  isPaused = (): boolean => this.isStopped;
}

function watched() {
  const framer = new Framer(
    () => 1e6,
    () => {},
  );
  const socket = new FakeSocket();
  const end = vi.fn();
  let progress: FrameProgress | undefined;
  const watchFrames = (_: Socket, frames: FrameProgress) => {
    progress = frames;
  };
  const clock = manualClock();
  const world = { watchFrames, clock };
  const stop = endStalledClient(framer, socket as unknown as Socket, world, end);
  return { framer, socket, clock, end, stop, progress: progress! };
}

it("the server waits for the rest of a frame unless it has paused the client", () => {
  const { framer, socket, progress } = watched();
  expect(progress.isWaiting).toBe(false);
  framer.push(framePrefix(1000).subarray(0, 2));
  expect(progress.isWaiting).toBe(true);
  framer.push(framePrefix(1000).subarray(2));
  framer.push(Buffer.alloc(999));
  socket.bytesRead = 1003;
  expect([progress.isWaiting, progress.bytes]).toEqual([true, 1003]);
  socket.isStopped = true;
  expect(progress.isWaiting).toBe(false);
  socket.isStopped = false;
  framer.push(Buffer.alloc(1));
  expect(progress.isWaiting).toBe(false);
});

it("a client that does not read its responses is ended, an idle one is not", () => {
  const { socket, clock, end } = watched();
  clock.advance(3 * unreadMillisecondsMax);
  socket.bytesWritten = 100;
  socket.writableLength = 50;
  clock.advance(unreadMillisecondsMax);
  socket.writableLength = 40;
  clock.advance(unreadMillisecondsMax);
  expect(end).not.toHaveBeenCalled();
  clock.advance(unreadMillisecondsMax);
  expect(end).toHaveBeenCalledOnce();
});
