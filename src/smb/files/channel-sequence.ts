import type { RequestLifetime, TreeRequest } from "../request.ts";
import { Command, Dialect, HeaderFlag } from "../wire/protocol.ts";
import type { FileHandle } from "./file-handle.ts";

/** ChannelSequence is a 16-bit number that wraps: differences from here on count as negative. */
const half = 0x8000;
const modifyingCommands: ReadonlySet<number> = new Set([
  Command.write,
  Command.setInfo,
  Command.ioctl,
]);

/**
 * Counts a request as running on its handle until it is handled. Returns false if the request must
 * fail with STATUS_FILE_NOT_AVAILABLE ([MS-SMB2] 3.3.5.2.10). A client that loses a channel
 * increments its ChannelSequence and replays, over another channel, the requests without a
 * response. A late request from the lost channel could overwrite a later change, and so could a
 * replay whose original is still running: both fail.
 */
export function countRequest(
  { header, connection, lifetime }: TreeRequest,
  handle: FileHandle,
): boolean {
  if (connection.dialect < Dialect.v300) return true;
  const modifies = modifyingCommands.has(header.command);
  const ahead = (header.channelSequence - handle.channelSequence) & 0xffff;
  if (ahead >= half) return !modifies;
  if (ahead > 0) {
    handle.channelSequence = header.channelSequence;
    handle.pendingOlderRequests += handle.pendingRequests;
    handle.pendingRequests = 0;
  }
  const isReplay = (header.flags & HeaderFlag.replay) !== 0;
  if (isReplay && modifies && handle.pendingOlderRequests > 0) return false;
  count(lifetime, handle);
  return true;
}

function count(lifetime: RequestLifetime, handle: FileHandle): void {
  const sequence = handle.channelSequence;
  handle.pendingRequests += 1;
  lifetime.whenHandled = () => {
    if (handle.channelSequence === sequence) handle.pendingRequests -= 1;
    else handle.pendingOlderRequests -= 1;
  };
}
