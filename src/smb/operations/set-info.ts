import {
  setBasicInfo,
  setDeletePending,
  setSecurity,
  type BasicChange,
} from "../../file/filesystem/info.ts";
import type { WaitingOutcome } from "../../file/filesystem/refusal.ts";
import { renameFile } from "../../file/filesystem/rename.ts";
import { resizeFile } from "../../file/filesystem/write.ts";
import type { Runtime } from "../../execution/execute.ts";
import { answer, refusal, type Answer } from "../answer.ts";
import { isCharged } from "../credit-charge.ts";
import { has, Right } from "../files/access.ts";
import { decodeBasic, decodeRename } from "../files/set-classes.ts";
import type { FileHandle } from "../files/file-handle.ts";
import { findFile, isAnswer } from "../files/lookup.ts";
import { parsePath } from "../files/path.ts";
import { mergeDescriptor, SecurityPart } from "../files/security.ts";
import { statusOf } from "../files/status-of.ts";
import { waitForLocks } from "../files/waiting.ts";
import type { TreeRequest } from "../request.ts";
import { Status, type NtStatus } from "../status.ts";
import {
  decodeSetInfo,
  encodeSetInfoResponse,
  InfoType,
  type SetInfoRequest,
} from "../wire/query.ts";

/** What to do, or what is wrong with asking for it. */
type Step = NtStatus | ((runtime: Runtime) => Promise<WaitingOutcome<void>>);
type Setter = (handle: FileHandle, data: Buffer, request: TreeRequest) => Step;

const setters: Readonly<Record<number, Setter>> = {
  4: setBasic,
  10: rename,
  13: setDisposition,
  14: setPosition,
  16: setNothing(4),
  19: setAllocation,
  20: setEnd,
  39: setNothing(8),
};
const refusedClasses: Readonly<Record<number, NtStatus>> = {
  11: Status.notSupported,
  15: Status.easNotSupported,
};

export async function setInfo(request: TreeRequest): Promise<Answer> {
  const asked = decodeSetInfo(request.message);
  if (asked === undefined) return refusal(Status.invalidParameter);
  if (!isCharged(request, asked.data.length)) return refusal(Status.invalidParameter);
  const handle = findFile(request, asked.fileId);
  if (isAnswer(handle)) return handle;
  const step = stepOf(request, handle, asked);
  if (typeof step === "number") {
    return step === Status.success ? answer(encodeSetInfoResponse()) : refusal(step);
  }
  const { connection, tree, life } = request;
  const { server } = connection;
  const outcome = await waitForLocks(server, tree.shareId, life, () => step(server.world.runtime));
  if (outcome.kind === "done") return answer(encodeSetInfoResponse());
  if (outcome.kind === "refused") return refusal(statusOf(outcome.refusal));
  return refusal(outcome.kind === "cancelled" ? Status.cancelled : Status.internalError);
}

function stepOf(request: TreeRequest, handle: FileHandle, asked: SetInfoRequest): Step {
  if (asked.infoType === InfoType.security) return setSecurityInfo(handle, asked);
  if (asked.infoType !== InfoType.file) return Status.notSupported;
  const setter = setters[asked.infoClass];
  if (setter === undefined) return refusedClasses[asked.infoClass] ?? Status.invalidInfoClass;
  return setter(handle, asked.data, request);
}

function setNothing(bytes: number): Setter {
  return (_, data) => (data.length < bytes ? Status.infoLengthMismatch : Status.success);
}

function setBasic(handle: FileHandle, data: Buffer): Step {
  if (!has(handle.access, Right.writeAttributes)) return Status.accessDenied;
  const decoded = decodeBasic(data, handle.isDirectory);
  if (typeof decoded === "number") return decoded;
  if (decoded.keepsTimes !== undefined) handle.keepsTimes = decoded.keepsTimes;
  const change: BasicChange = decoded.change;
  if (Object.values(change).every((value) => value === undefined)) return Status.success;
  return (runtime) => setBasicInfo(runtime, handle.place, change);
}

function rename(handle: FileHandle, data: Buffer, { connection }: TreeRequest): Step {
  if (!has(handle.access, Right.delete)) return Status.accessDenied;
  const decoded = decodeRename(data);
  if (typeof decoded === "number") return decoded;
  const path = parsePath(decoded.name.replace(/^\\/, ""));
  if (typeof path === "number") return path;
  if (path.snapshot !== undefined || connection.negotiated === undefined) {
    return Status.notSameDevice;
  }
  return (runtime) =>
    renameFile(runtime, {
      place: handle.place,
      handle: handle.id.persistent,
      path: path.components,
      replaces: decoded.replaces,
    });
}

function setDisposition(handle: FileHandle, data: Buffer): Step {
  if (data.length < 1) return Status.infoLengthMismatch;
  if (!has(handle.access, Right.delete)) return Status.accessDenied;
  const isPending = data[0] !== 0;
  return (runtime) => setDeletePending(runtime, handle.place, handle.id.persistent, isPending);
}

function setPosition(handle: FileHandle, data: Buffer): Step {
  if (data.length < 8) return Status.infoLengthMismatch;
  const position = data.readBigInt64LE();
  if (position < 0n) return Status.invalidParameter;
  handle.position = position;
  return Status.success;
}

function setEnd(handle: FileHandle, data: Buffer): Step {
  const length = decodeLength(handle, data);
  if (typeof length !== "bigint") return length.status;
  return (runtime) => resizeFile(runtime, writingOf(handle), Number(length));
}

/** Room below the end of the file cuts it; room above is only remembered. */
function setAllocation(handle: FileHandle, data: Buffer): Step {
  const length = decodeLength(handle, data);
  if (typeof length !== "bigint") return length.status;
  const wanted = Number(length);
  handle.reservedBytes = wanted;
  return (runtime) =>
    resizeFile(runtime, writingOf(handle), (present) => Math.min(present, wanted));
}

function decodeLength(handle: FileHandle, data: Buffer): bigint | { status: NtStatus } {
  if (data.length < 8) return { status: Status.infoLengthMismatch };
  if (handle.isDirectory) return { status: Status.invalidParameter };
  if (!has(handle.access, Right.writeData)) return { status: Status.accessDenied };
  const length = data.readBigInt64LE();
  return length < 0n ? { status: Status.invalidParameter } : length;
}

function writingOf({ place, id, keepsTimes }: FileHandle) {
  return { place, handle: id.persistent, keepsTimes };
}

function setSecurityInfo(handle: FileHandle, { data, additional }: SetInfoRequest): Step {
  const owners = SecurityPart.owner | SecurityPart.group;
  if ((additional & owners) !== 0 && !has(handle.access, Right.writeOwner)) {
    return Status.accessDenied;
  }
  if ((additional & SecurityPart.access) !== 0 && !has(handle.access, Right.writeDac)) {
    return Status.accessDenied;
  }
  const probe = mergeDescriptor(probeSddl, data, additional);
  if (probe === undefined) return Status.invalidParameter;
  return (runtime) =>
    setSecurity(runtime, handle.place, (present) => {
      return mergeDescriptor(present, data, additional) ?? present;
    });
}

const probeSddl = "O:SYG:SYD:(A;;FA;;;SY)";
