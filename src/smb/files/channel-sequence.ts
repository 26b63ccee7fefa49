import type { RequestLifetime, TreeRequest } from "../request.ts";
import { Command, Dialect, HeaderFlag } from "../wire/protocol.ts";
import type { FileHandle } from "./file-handle.ts";

const half = 0x8000;
const changing: ReadonlySet<number> = new Set([Command.write, Command.setInfo, Command.ioctl]);

/**
 * Counts a request on its handle until it was handled; false if it must be refused
 * ([MS-SMB2] 3.3.5.2.10). A client that loses a channel raises its ChannelSequence and repeats over
 * another channel what got no response. A change that comes late over the lost channel would undo
 * a later one, and so would a repeated one whose original still runs: both are refused.
 */
export function countRequest(
  { header, connection, lifetime: life }: TreeRequest,
  handle: FileHandle,
): boolean {
  if (connection.dialect < Dialect.v300) return true;
  const changes = changing.has(header.command);
  const ahead = (header.channelSequence - handle.channelSequence) & 0xffff;
  if (ahead >= half) return !changes;
  if (ahead > 0) {
    handle.channelSequence = header.channelSequence;
    handle.pendingOlderRequests += handle.pendingRequests;
    handle.pendingRequests = 0;
  }
  const isReplay = (header.flags & HeaderFlag.replay) !== 0;
  if (isReplay && changes && handle.pendingOlderRequests > 0) return false;
  count(life, handle);
  return true;
}

function count(life: RequestLifetime, handle: FileHandle): void {
  const sequence = handle.channelSequence;
  handle.pendingRequests += 1;
  life.whenHandled = () => {
    if (handle.channelSequence === sequence) handle.pendingRequests -= 1;
    else handle.pendingOlderRequests -= 1;
  };
}
