import { fileInfo, securityOf, volumeSpaceOf } from "../../file/filesystem/info.ts";
import {
  errorResponse,
  newResponse,
  type CommandResult,
  exceedsLimits,
  type TreeRequest,
  coversBytes,
  waitForLocks,
} from "../request.ts";
import { Right } from "../../file/locks/access.ts";
import { has, requestOn, type FileHandle, findFile, parsePath } from "../files/file-handle.ts";
import {
  fileClasses,
  mayQuery,
  volumeClasses,
  decodeBasic,
  decodeRename,
} from "../files/information-classes.ts";
import { descriptorBytes, mergeDescriptor } from "../files/security.ts";
import { Status, statusOf, type NtStatus } from "../status.ts";
import {
  decodeQueryInfo,
  encodeDataResponse,
  InfoType,
  type QueryInfoRequest,
  decodeSetInfo,
  encodeSetInfoResponse,
  type SetInfoRequest,
} from "../wire/io.ts";
import { Writer } from "../wire/buffers.ts";
import {
  setBasicInfo,
  setDeletePending,
  setSecurity,
  type BasicInfoChange,
} from "../../file/filesystem/set-info.ts";
import { done, type FileOutcome } from "../../file/filesystem/file-result.ts";
import { renameFile, type RenameResult } from "../../file/filesystem/rename.ts";
import { resizeFile } from "../../file/filesystem/write.ts";
import type { Runtime } from "../../operation/work.ts";
import type { NodeRecord } from "../../file/records.ts";
import { modification, moveChanges, type FileChange } from "../files/change-dispatcher.ts";
import { ChangeFilter } from "../files/directory-watch.ts";
import { SecurityPart } from "../../file/shared/descriptor-bytes.ts";

/** QUERY_INFO and SET_INFO: reading and changing properties of a file, its volume or its security
 *  descriptor. Requests name them by information class; each class is a row of a table. */

/** The number of FileFullEaInformation; no file has the extended attributes that it queries. */
const extendedAttributesClass = 15;

/** QUERY_INFO: returns the structure (information class) that the request names. */
export async function queryInfo(request: TreeRequest): Promise<CommandResult> {
  const decoded = decodeQueryInfo(request.message);
  if (decoded === undefined) return Status.invalidParameter;
  const { outputBytesMax, input } = decoded;
  const moved = Math.max(outputBytesMax, input.length);
  if (exceedsLimits(request, outputBytesMax, moved)) return Status.invalidParameter;
  const handle = findFile(request, decoded.fileId);
  if (typeof handle === "number") return handle;
  switch (decoded.infoType) {
    case InfoType.file:
      return queryFile(request, handle, decoded);
    case InfoType.fileSystem:
      return queryVolume(request, handle, decoded);
    case InfoType.security:
      return querySecurity(request, handle, decoded);
    default:
      return decoded.infoType === InfoType.quota ? Status.notSupported : Status.invalidParameter;
  }
}

async function queryFile(
  { connection }: TreeRequest,
  handle: FileHandle,
  { infoClass, outputBytesMax }: QueryInfoRequest,
): Promise<CommandResult> {
  const decoded = fileClasses[infoClass];
  if (decoded === undefined) {
    const isKnown = infoClass === extendedAttributesClass;
    return isKnown ? Status.noEasOnFile : Status.invalidInfoClass;
  }
  if (!mayQuery(handle, decoded)) return Status.accessDenied;
  if (outputBytesMax < decoded.fixedBytes) return Status.infoLengthMismatch;
  const { runtime } = connection.server.world;
  const info = await fileInfo(runtime, requestOn(handle));
  if (info.kind === "fault") return statusOf(info.fault);
  const data = decoded.encode(info.value, handle);
  return data === undefined ? Status.objectNameNotFound : truncatedTo(data, outputBytesMax);
}

/** A response with as much data as the client accepts, or STATUS_BUFFER_OVERFLOW if cut. */
function truncatedTo(data: Buffer, bytesMax: number): CommandResult {
  if (data.length <= bytesMax) return newResponse(encodeDataResponse(data));
  return newResponse(encodeDataResponse(data.subarray(0, bytesMax)), Status.bufferOverflow);
}

async function queryVolume(
  { connection, tree }: TreeRequest,
  { reference }: FileHandle,
  { infoClass, outputBytesMax }: QueryInfoRequest,
): Promise<CommandResult> {
  const decoded = volumeClasses[infoClass];
  if (decoded === undefined) return Status.invalidInfoClass;
  if (outputBytesMax < decoded.fixedBytes) return Status.infoLengthMismatch;
  const space = await volumeSpaceOf(connection.server.world.runtime, reference);
  if (space.kind === "fault") return statusOf(space.fault);
  const volume = { space: space.value, share: tree.share };
  return truncatedTo(decoded.encode(volume), outputBytesMax);
}

async function querySecurity(
  { connection }: TreeRequest,
  handle: FileHandle,
  { additional, outputBytesMax }: QueryInfoRequest,
): Promise<CommandResult> {
  // A request for no part needs no access right: the descriptor is empty, as on Windows.
  if (additional !== 0 && !has(handle.access, Right.readControl)) return Status.accessDenied;
  const found = await securityOf(connection.server.world.runtime, requestOn(handle));
  if (found.kind === "fault") return statusOf(found.fault);
  const bytes = descriptorBytes(found.value, additional);
  if (bytes === undefined) return Status.unsuccessful;
  if (bytes.length <= outputBytesMax) return newResponse(encodeDataResponse(bytes));
  return errorResponse(Status.bufferTooSmall, new Writer(4).u32(bytes.length).finish());
}

/** The operation that a SET_INFO runs, or the status of a request that is invalid or needs none.
 *  The operation returns the changes to report to the watches of CHANGE_NOTIFY requests. */
type SetStep = NtStatus | ((runtime: Runtime) => ChangesOutcome);
type ChangesOutcome = Promise<FileOutcome<readonly FileChange[]>>;
type Setter = (handle: FileHandle, data: Buffer, request: TreeRequest) => SetStep;

/** The setters of the information classes that clients can set, by number ([MS-FSCC] 2.4). */
const setters: Readonly<Record<number, Setter>> = {
  4: setBasic,
  10: rename,
  13: setDisposition,
  14: setPosition,
  16: setMode,
  19: setAllocation,
  20: setEnd,
  39: setNothing(8),
};
/** The status that clients expect for hard links and extended attributes: not supported. */
const refusedClasses: Readonly<Record<number, NtStatus>> = {
  11: Status.notSupported,
  15: Status.easNotSupported,
};

/** SET_INFO: changes attributes, times, length or security, renames, or marks for deletion. */
export async function setInfo(request: TreeRequest): Promise<CommandResult> {
  const decoded = decodeSetInfo(request.message);
  if (decoded === undefined) return Status.invalidParameter;
  if (!coversBytes(request, decoded.data.length)) return Status.invalidParameter;
  const handle = findFile(request, decoded.fileId);
  if (typeof handle === "number") return handle;
  const step = stepOf(request, handle, decoded);
  if (typeof step === "number") {
    return step === Status.success ? newResponse(encodeSetInfoResponse()) : step;
  }
  const outcome = await waitForLocks(request, step);
  if (typeof outcome === "number") return outcome;
  request.connection.server.changeDispatcher.publish(request.tree.share.id, outcome.value);
  return newResponse(encodeSetInfoResponse());
}

function stepOf(request: TreeRequest, handle: FileHandle, decoded: SetInfoRequest): SetStep {
  if (decoded.infoType === InfoType.security) return setSecurityInfo(handle, decoded);
  if (decoded.infoType !== InfoType.file) return Status.notSupported;
  const setter = setters[decoded.infoClass];
  if (setter === undefined) return refusedClasses[decoded.infoClass] ?? Status.invalidInfoClass;
  return setter(handle, decoded.data, request);
}

/** The setter of a class that is accepted without effect. */
function setNothing(bytes: number): Setter {
  return (_, data) => (data.length < bytes ? Status.infoLengthMismatch : Status.success);
}

function setBasic(handle: FileHandle, data: Buffer): SetStep {
  if (!has(handle.access, Right.writeAttributes)) return Status.accessDenied;
  const decoded = decodeBasic(data, handle.isDirectory);
  if (typeof decoded === "number") return decoded;
  if (decoded.keepsLastWrite !== undefined) handle.keepsLastWrite = decoded.keepsLastWrite;
  if (decoded.keepsChangeTime !== undefined) handle.keepsChangeTime = decoded.keepsChangeTime;
  if (Object.values(decoded.change).every((value) => value === undefined)) return Status.success;
  const change: BasicInfoChange = { ...decoded.change, keepsChangeTime: handle.keepsChangeTime };
  return (runtime) =>
    changed(setBasicInfo(runtime, { ...requestOn(handle), ...change }), filterOf(change));
}

/** FileModeInformation bits that a client may change: those about caching and waiting, not
 *  delete-on-close. */
const changeableModes = 0x36;

function setMode(handle: FileHandle, data: Buffer): SetStep {
  if (data.length < 4) return Status.infoLengthMismatch;
  const mode = data.readUInt32LE();
  if ((mode & ~changeableModes) !== 0) return Status.invalidParameter;
  handle.options = (handle.options & ~changeableModes) | mode;
  return Status.success;
}

function filterOf({ created, lastWrite, attributes }: BasicInfoChange): number {
  return (
    (created === undefined ? 0 : ChangeFilter.creation) |
    (lastWrite === undefined ? 0 : ChangeFilter.lastWrite) |
    (attributes === undefined ? 0 : ChangeFilter.attributes)
  );
}

async function changed(work: Promise<FileOutcome<NodeRecord>>, filter: number): ChangesOutcome {
  const outcome = await work;
  return outcome.kind === "done" ? done([modification(outcome.value, filter)]) : outcome;
}

async function renamed(work: Promise<FileOutcome<RenameResult>>): ChangesOutcome {
  const outcome = await work;
  if (outcome.kind !== "done") return outcome;
  return done(moveChanges(outcome.value.before, outcome.value.after));
}

function rename(handle: FileHandle, data: Buffer, { connection }: TreeRequest): SetStep {
  if (!has(handle.access, Right.delete)) return Status.accessDenied;
  const decoded = decodeRename(data);
  if (typeof decoded === "number") return decoded;
  const path = parsePath(decoded.name.replace(/^\\/, ""));
  if (typeof path === "number") return path;
  if (path.snapshot !== undefined || connection.negotiated === undefined) {
    return Status.notSameDevice;
  }
  const { replaces } = decoded;
  const renaming = { ...requestOn(handle), path: path.components, replaces };
  return (runtime) => renamed(renameFile(runtime, renaming));
}

function setDisposition(handle: FileHandle, data: Buffer, request: TreeRequest): SetStep {
  if (data.length < 1) return Status.infoLengthMismatch;
  if (!has(handle.access, Right.delete)) return Status.accessDenied;
  const isPending = data[0] !== 0;
  const { reference } = handle;
  return async (runtime) => {
    const outcome = await setDeletePending(runtime, { ...requestOn(handle), isPending });
    if (outcome.kind !== "done") return outcome;
    const { changeDispatcher: changes } = request.connection.server;
    if (isPending) changes.endWatchesOf(reference.share.id, reference.file);
    return done([]);
  };
}

function setPosition(handle: FileHandle, data: Buffer): SetStep {
  if (data.length < 8) return Status.infoLengthMismatch;
  const position = data.readBigInt64LE();
  if (position < 0n) return Status.invalidParameter;
  handle.position = position;
  return Status.success;
}

function setEnd(handle: FileHandle, data: Buffer): SetStep {
  const length = decodeLength(handle, data);
  if (typeof length === "number") return length;
  const resizing = { ...requestOn(handle), length: Number(length) };
  return (runtime) => changed(resizeFile(runtime, resizing), sizeFilter);
}

/** FileAllocationInformation: a size below the length of the file truncates it; a larger one is
 *  only kept in the handle and reported, because no storage is reserved. */
function setAllocation(handle: FileHandle, data: Buffer): SetStep {
  const length = decodeLength(handle, data);
  if (typeof length === "number") return length;
  const wanted = Number(length);
  handle.reservedBytes = wanted;
  const resizing = {
    ...requestOn(handle),
    length: (present: number): number => Math.min(present, wanted),
  };
  return (runtime) => changed(resizeFile(runtime, resizing), sizeFilter);
}

/** The length in a SET_INFO that sets a size, or the status if the handle does not permit it. */
function decodeLength(handle: FileHandle, data: Buffer): bigint | NtStatus {
  if (data.length < 8) return Status.infoLengthMismatch;
  if (handle.isDirectory) return Status.invalidParameter;
  if (!has(handle.access, Right.writeData)) return Status.accessDenied;
  const length = data.readBigInt64LE();
  return length < 0n ? Status.invalidParameter : length;
}

const sizeFilter = ChangeFilter.size | ChangeFilter.lastWrite;

function setSecurityInfo(handle: FileHandle, { data, additional }: SetInfoRequest): SetStep {
  const owners = SecurityPart.owner | SecurityPart.group;
  if ((additional & owners) !== 0 && !has(handle.access, Right.writeOwner)) {
    return Status.accessDenied;
  }
  if ((additional & SecurityPart.access) !== 0 && !has(handle.access, Right.writeDac)) {
    return Status.accessDenied;
  }
  const probe = mergeDescriptor(probeSddl, data, additional);
  if (probe === undefined) return Status.invalidParameter;
  const revise = (present: string): string => mergeDescriptor(present, data, additional) ?? present;
  const setting = { ...requestOn(handle), revise };
  return (runtime) => changed(setSecurity(runtime, setting), ChangeFilter.security);
}

/** Any valid descriptor: merged with the bytes of a request, it shows whether they are valid. */
const probeSddl = "O:SYG:SYD:(A;;FA;;;SY)";
