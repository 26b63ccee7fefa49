import { checkFileName, componentUnitsMax, pathDepthMax } from "../../protocol/file-names.ts";
import { parseIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import { Status, type NtStatus } from "../status.ts";
import type { FileId } from "../response.ts";
import type { Handle } from "../session.ts";
import type { TreeRequest } from "../request.ts";
import type { FileHandle } from "./file-handle.ts";
import { Command, Dialect, HeaderFlag } from "../wire/protocol.ts";

/** Finds what a request names: the path of a CREATE or rename, or an open handle. */

/** A path relative to the share. */
export interface ParsedPath {
  readonly components: readonly string[];
  /** Whether the path ends with a backslash, so that it can only name a directory. */
  readonly mustBeDirectory: boolean;
  /** Time of the share snapshot named by an `@GMT-` component, in whole seconds. */
  readonly snapshot: Ticks | undefined;
}

const separator = "\\";
const plainStream = /::\$DATA$/i;
const snapshotToken = /^@GMT-(\d{4})\.(\d\d)\.(\d\d)-(\d\d)\.(\d\d)\.(\d\d)$/;

/** Parses a path relative to a share ([MS-FSCC] 2.1.5). */
export function parsePath(name: string): ParsedPath | NtStatus {
  if (name.startsWith(separator)) return Status.invalidParameter;
  const mustBeDirectory = name.endsWith(separator);
  const bare = (mustBeDirectory ? name.slice(0, -1) : name).replace(plainStream, "");
  if (bare === "") return { components: [], mustBeDirectory, snapshot: undefined };
  const parts = bare.split(separator);
  if (parts.length > pathDepthMax) return Status.objectNameInvalid;
  const components: string[] = [];
  let snapshot: Ticks | undefined;
  for (const part of parts) {
    const time = snapshotTime(part);
    if (time !== undefined) snapshot = time;
    else {
      const invalid = checkComponent(part);
      if (invalid !== undefined) return invalid;
      components.push(part);
    }
  }
  return { components, mustBeDirectory, snapshot };
}

function checkComponent(part: string): NtStatus | undefined {
  if (part === "." || part === "..") return Status.objectPathSyntaxBad;
  if (part.length > componentUnitsMax) return Status.objectNameInvalid;
  return checkFileName(part).ok ? undefined : Status.objectNameInvalid;
}

function snapshotTime(part: string): Ticks | undefined {
  const found = snapshotToken.exec(part);
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second] = found;
  return parseIso(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}

/** The handle that a request names or, if it is a related request of a compound, inherits from the
 *  request before it. Otherwise the status of the error response. */
export function findHandle(request: TreeRequest, named: FileId): Handle | NtStatus {
  const { session, tree, previous } = request;
  if (previous?.failure !== undefined) return previous.failure;
  const fileId = previous?.fileId ?? named;
  const handle = session.handles.get(fileId.volatile);
  const isValid =
    handle !== undefined &&
    handle.tree.id === tree.id &&
    handle.id.persistent === fileId.persistent;
  if (!isValid) return Status.fileClosed;
  request.lifetime.fileId = handle.id;
  if (handle.kind === "pipe") return handle;
  request.connection.server.replays.remove(handle);
  return countRequest(request, handle) ? handle : Status.fileNotAvailable;
}

/** Like `findHandle`, for commands that are not allowed on pipes. */
export function findFile(request: TreeRequest, named: FileId): FileHandle | NtStatus {
  const found = findHandle(request, named);
  return typeof found === "number" || found.kind === "file" ? found : Status.invalidDeviceRequest;
}

/** ChannelSequence is a 16-bit number that wraps: differences from here on count as negative. */
const half = 0x8000;
const modifyingCommands: ReadonlySet<number> = new Set([
  Command.write,
  Command.setInfo,
  Command.ioctl,
]);

/** Counts a request as running on its handle until it is handled. Returns false if the request must
 *  fail with STATUS_FILE_NOT_AVAILABLE ([MS-SMB2] 3.3.5.2.10). A client that loses a channel
 *  increments its ChannelSequence and replays, over another channel, the requests without a
 *  response. A late request from the lost channel could overwrite a later change, and so could a
 *  replay whose original is still running: both fail. */
function countRequest({ header, connection, lifetime }: TreeRequest, handle: FileHandle): boolean {
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
  const sequence = handle.channelSequence;
  handle.pendingRequests += 1;
  lifetime.whenHandled = () => {
    if (handle.channelSequence === sequence) handle.pendingRequests -= 1;
    else handle.pendingOlderRequests -= 1;
  };
  return true;
}
