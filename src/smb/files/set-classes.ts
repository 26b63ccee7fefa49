import type { BasicInfoChange } from "../../file/filesystem/set-info.ts";
import type { Ticks } from "../../base/ticks.ts";
import { settableAttributes } from "../../file/filesystem/new-node.ts";
import { ticksOfFileTime } from "../file-time.ts";
import { Status, type NtStatus } from "../status.ts";
import { Reader } from "../wire/reader.ts";

/** Information classes for SET_INFO ([MS-FSCC] 2.4). */

const basicBytes = 36;
const directoryAttribute = 0x10;
const temporaryAttribute = 0x100;
/** Times that a client sends to stop or resume the automatic update of a time ([MS-FSCC] 2.4.7). */
const stopUpdating = -1n;
const resumeUpdating = -2n;

export interface BasicInformation {
  readonly change: BasicInfoChange;
  /** Whether later writes leave the last write time as it is; undefined if this does not change. */
  readonly keepsLastWrite: boolean | undefined;
  /** Whether later changes of attributes leave the change time as it is; undefined if this does not
   *  change. */
  readonly keepsChangeTime: boolean | undefined;
}

export function decodeBasic(data: Buffer, isDirectory: boolean): BasicInformation | NtStatus {
  if (data.length < basicBytes) return Status.infoLengthMismatch;
  const reader = new Reader(data);
  const times = [reader.i64(), reader.i64(), reader.i64(), reader.i64()];
  const attributes = reader.u32();
  if (times.some((time) => time < resumeUpdating)) return Status.invalidParameter;
  if (!isDirectory && (attributes & directoryAttribute) !== 0) return Status.invalidParameter;
  if (isDirectory && (attributes & temporaryAttribute) !== 0) return Status.invalidParameter;
  const [created = 0n, lastAccess = 0n, lastWrite = 0n, change = 0n] = times;
  return {
    change: {
      created: timeOf(created),
      lastAccess: timeOf(lastAccess),
      lastWrite: timeOf(lastWrite),
      change: timeOf(change),
      attributes: attributes === 0 ? undefined : attributes & settableAttributes,
    },
    keepsLastWrite: lastWrite === 0n ? undefined : lastWrite !== resumeUpdating,
    keepsChangeTime: change === 0n ? undefined : change !== resumeUpdating,
  };
}

function timeOf(fileTime: bigint): Ticks | undefined {
  if (fileTime === 0n || fileTime === stopUpdating || fileTime === resumeUpdating) {
    return undefined;
  }
  return ticksOfFileTime(fileTime);
}

export interface RenameInformation {
  readonly replaces: boolean;
  readonly name: string;
}

const renameHeadBytes = 20;

export function decodeRename(data: Buffer): RenameInformation | NtStatus {
  if (data.length < renameHeadBytes) return Status.infoLengthMismatch;
  const reader = new Reader(data);
  const replaces = reader.u8() !== 0;
  reader.skip(7);
  const root = reader.u64();
  const length = reader.u32();
  if (root !== 0n || length === 0) return Status.invalidParameter;
  const name = reader.text(length);
  return reader.intact ? { replaces, name } : Status.infoLengthMismatch;
}
