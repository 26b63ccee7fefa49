import type { FileReference } from "../../file/filesystem/file-reference.ts";
import type { FileId, TreeRequest } from "../request.ts";
import type { Connection } from "../connection.ts";
import type { Session, TreeConnect, Handle } from "../session.ts";
import type { DirectoryWatch } from "./directory-watch.ts";
import type { Listing } from "./information-classes.ts";
import type { LeaseContext } from "../wire/create.ts";
import { genericRights, Right } from "../../file/locks/access.ts";
import { Status, type NtStatus } from "../status.ts";
import { checkFileName, componentUnitsMax, pathDepthMax } from "../../protocol/file-names.ts";
import { parseIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import { Command, Dialect, HeaderFlag } from "../wire/protocol.ts";

/** The handles of open files: their state, the rights in an access mask, the paths by which clients
 *  name files, and how a request finds a handle by its FileId. */

/** An open file or directory of an SMB client. The lock record of the file has the same open under
 *  `id.persistent`. */
export interface FileHandle {
  readonly kind: "file";
  readonly id: FileId;
  tree: TreeConnect;
  session: Session;
  connection: Connection;
  readonly reference: FileReference;
  /** The path of the CREATE, in the client's case. */
  readonly path: readonly string[];
  /** Granted access rights ([MS-SMB2] 2.2.13.1). */
  readonly access: number;
  readonly isDirectory: boolean;
  /** CreateOptions of the CREATE; SET_INFO may change the mode bits. */
  options: number;
  readonly cache: HandleCachingGrant | undefined;
  durable: Durability | undefined;
  listing: Listing | undefined;
  watch: DirectoryWatch | undefined;
  /** FilePositionInformation: the end of the last READ, or what the client has set. */
  position: bigint;
  /** The highest ChannelSequence of its requests. The client increments it each time it loses a
   *  channel. */
  channelSequence: number;
  /** Running requests with the current ChannelSequence (Open.OutstandingRequestCount). */
  pendingRequests: number;
  /** Running requests with an older ChannelSequence (Open.OutstandingPreRequestCount). */
  pendingOlderRequests: number;
  /** Open.LockSequenceArray: the last LockSequenceNumber by LockSequenceIndex. */
  readonly lockNumbers: Map<number, number>;
  /** Allocation size that the client requested; may be larger than the file. */
  reservedBytes: number;
  /** Whether writes leave the last write time as it is, because the client has set it. */
  keepsLastWrite: boolean;
  /** Whether setting attributes leaves the change time as it is, because the client has set it.
   *  Writes still change it. */
  keepsChangeTime: boolean;
}

/** The parameters with which the operations of `file/filesystem` identify a handle. */
export function requestOn({ reference, id, keepsLastWrite }: FileHandle) {
  return { reference, handle: id.persistent, keepsLastWrite };
}

/** The caching grant of a handle: an SMB lease, which several handles may share, or an oplock of
 *  this handle only. */
export interface HandleCachingGrant {
  /** Key of the grant in the lock record. */
  readonly key: string;
  /** The lease key that the client sent, and the version of its lease context; undefined for an
   *  oplock. */
  readonly lease: Pick<LeaseContext, "key" | "version"> | undefined;
}

/** How long a durable handle stays open without a connection, and the CreateGuid by which its
 *  client reclaims it (version 2 only). */
export interface Durability {
  readonly version: 1 | 2;
  readonly milliseconds: number;
  readonly createGuid: string | undefined;
}

/** The generic bits of an access mask, in which CREATE has a bit for each right that it requests
 *  ([MS-SMB2] 2.2.13.1). A generic bit means several rights. */
const genericBits = 0xf000_0000;
/** Reserved bits; a request with one of them is invalid. */
const unknownBits = 0x0ce0_fe00;

/** An access mask without generic bits. `wantsMaximum`: all rights that the client may have. */
interface ResolvedAccess {
  readonly access: number;
  readonly wantsMaximum: boolean;
}

/** Replaces generic rights by specific ones; a status if the mask is invalid. */
export function resolveAccess(desired: number): ResolvedAccess | NtStatus {
  if (desired === 0 || (desired & unknownBits) !== 0) return Status.accessDenied;
  if ((desired & Right.systemSecurity) !== 0) return Status.privilegeNotHeld;
  let access = desired & ~genericBits & ~Right.maximumAllowed;
  for (const [bit, rights] of genericRights) if ((desired & bit) !== 0) access |= rights;
  return { access: access >>> 0, wantsMaximum: (desired & Right.maximumAllowed) !== 0 };
}

/** Whether an access mask contains at least one of the rights. */
export function has(access: number, rights: number): boolean {
  return (access & rights) !== 0;
}

/** A path relative to the share, as CREATE and renames name files. */
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

/** Half the range of ChannelSequence, which wraps: a difference from here on is negative. */
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
