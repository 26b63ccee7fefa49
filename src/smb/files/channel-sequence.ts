import type { TreeRequest } from "../request.ts";
import { Command, Dialect } from "../wire/protocol.ts";
import type { FileHandle } from "./file-handle.ts";

const half = 0x8000;
const changing: ReadonlySet<number> = new Set([Command.write, Command.setInfo, Command.ioctl]);

/**
 * A client that loses one of its connections counts on, and repeats over another what it got no
 * answer to. A change that comes late over the lost one would undo a later one, so it is refused
 * ([MS-SMB2] 3.3.5.2.10).
 */
export function isOutdated({ header, connection }: TreeRequest, handle: FileHandle): boolean {
  if (connection.dialect < Dialect.v300) return false;
  const ahead = (header.channelSequence - handle.channelSequence) & 0xffff;
  if (ahead >= half) return changing.has(header.command);
  handle.channelSequence = header.channelSequence;
  return false;
}
