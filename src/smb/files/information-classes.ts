import type { ShareAddress } from "../../file/filesystem/file-reference.ts";
import type { FileInfo, VolumeSpace } from "../../file/filesystem/info.ts";
import { Writer, Reader } from "../wire/buffers.ts";
import { fileTimeOf, ticksOfFileTime, writeTimes, type FileFacts } from "../wire/header.ts";
import { Right } from "../../file/locks/access.ts";
import { has, type FileHandle } from "./file-handle.ts";
import type { BasicInfoChange } from "../../file/filesystem/set-info.ts";
import type { Ticks } from "../../base/ticks.ts";
import { settableAttributes } from "../../file/filesystem/new-node.ts";
import { Status, type NtStatus } from "../status.ts";
import { InfoType, type SetInfoRequest } from "../wire/io.ts";
import { rootId, type NodeRecord } from "../../file/records.ts";

/** Information classes: numbered structures that describe a file or a file system ([MS-FSCC] 2.4,
 *  2.5), for QUERY_INFO, SET_INFO and, at the end of this file, QUERY_DIRECTORY. */

/** A file information class for QUERY_INFO ([MS-FSCC] 2.4). */
interface FileClass {
  /** Smallest buffer that a client may offer; a smaller one fails with INFO_LENGTH_MISMATCH. A
   *  larger one that does not hold all data gets as much as it holds. */
  readonly fixedBytes: number;
  /** Access rights of which the handle must have one; 0 if it needs none. */
  readonly needs: number;
  /** Encodes the structure. Undefined if the file has no information of this class. */
  readonly encode: (info: FileInfo, handle: FileHandle) => Buffer | undefined;
}

const modeBits = 0x103e;

/** The classes of files for QUERY_INFO, by number in [MS-FSCC]. Encoders are named like the class,
 *  except for 6: FileInternal, 7: FileEa, 8: FileAccess, 14: FilePosition, 17: FileAlignment. */
export const fileClasses: Readonly<Record<number, FileClass>> = {
  4: { fixedBytes: 40, needs: Right.readAttributes, encode: basic },
  5: { fixedBytes: 24, needs: 0, encode: standard },
  6: { fixedBytes: 8, needs: 0, encode: (info) => new Writer(8).u64(indexOf(info)).finish() },
  7: { fixedBytes: 4, needs: 0, encode: () => Buffer.alloc(4) },
  8: { fixedBytes: 4, needs: 0, encode: (_, { access }) => new Writer(4).u32(access).finish() },
  14: {
    fixedBytes: 8,
    needs: 0,
    encode: (_, { position }) => new Writer(8).u64(position).finish(),
  },
  16: { fixedBytes: 4, needs: 0, encode: mode },
  17: { fixedBytes: 4, needs: 0, encode: () => Buffer.alloc(4) },
  18: { fixedBytes: 100, needs: Right.readAttributes, encode: all },
  21: { fixedBytes: 4, needs: 0, encode: shortName },
  22: { fixedBytes: 0, needs: 0, encode: streams },
  28: { fixedBytes: 16, needs: 0, encode: compression },
  34: { fixedBytes: 56, needs: Right.readAttributes, encode: networkOpen },
  35: { fixedBytes: 8, needs: Right.readAttributes, encode: attributeTag },
  48: { fixedBytes: 4, needs: 0, encode: normalizedName },
  59: { fixedBytes: 24, needs: 0, encode: identity },
};

function indexOf({ node, share }: FileInfo): bigint {
  return indexNumberOf(node, share.id);
}

function basic({ node }: FileInfo): Buffer {
  const facts = factsOf(node);
  return writeTimes(new Writer(40), facts).u32(facts.attributes).u32(0).finish();
}

function standard({ node, locks }: FileInfo, handle: FileHandle): Buffer {
  const { allocated, size } = factsOf(node, handle.reservedBytes);
  const isPending = locks.deletePending;
  return new Writer(24)
    .u64(allocated)
    .u64(size)
    .u32(isPending ? 0 : 1)
    .u8(isPending ? 1 : 0)
    .u8(node.kind === "directory" ? 1 : 0)
    .u16(0)
    .finish();
}

function mode(_: FileInfo, { options }: FileHandle): Buffer {
  return new Writer(4).u32(options & modeBits).finish();
}

/** The path from the root of the share, with the stored spelling of names. */
function pathText({ path }: FileInfo): string {
  return path.join("\\");
}

function all(info: FileInfo, handle: FileHandle): Buffer {
  const name = Buffer.from(`\\${pathText(info)}`, "utf16le");
  return new Writer()
    .bytes(basic(info))
    .bytes(standard(info, handle))
    .u64(indexOf(info))
    .u32(0)
    .u32(handle.access)
    .u64(handle.position)
    .bytes(mode(info, handle))
    .u32(0)
    .u32(name.length)
    .bytes(name)
    .finish();
}

const plainStream = "::$DATA";

function streams({ node }: FileInfo, handle: FileHandle): Buffer {
  if (node.kind === "directory") return Buffer.alloc(0);
  const { size, allocated } = factsOf(node, handle.reservedBytes);
  return new Writer()
    .u32(0)
    .u32(plainStream.length * 2)
    .u64(size)
    .u64(allocated)
    .text(plainStream)
    .finish();
}

function compression({ node }: FileInfo): Buffer {
  return new Writer(16).u64(factsOf(node).size).zeros(8).finish();
}

function networkOpen({ node }: FileInfo, handle: FileHandle): Buffer {
  const facts = factsOf(node, handle.reservedBytes);
  return writeTimes(new Writer(56), facts)
    .u64(facts.allocated)
    .u64(facts.size)
    .u32(facts.attributes)
    .u32(0)
    .finish();
}

function attributeTag({ node }: FileInfo): Buffer {
  return new Writer(8).u32(factsOf(node).attributes).u32(0).finish();
}

function normalizedName(info: FileInfo): Buffer {
  const name = Buffer.from(pathText(info), "utf16le");
  return new Writer().u32(name.length).bytes(name).finish();
}

const shortForm = /^[^.\s+,;=[\]]{1,8}(?:\.[^.\s+,;=[\]]{1,3})?$/;

/** The 8.3 name of a file, if its name already has that form. The server generates no 8.3 names. */
function shortName({ path }: FileInfo): Buffer | undefined {
  const name = path.at(-1) ?? "";
  if (!shortForm.test(name)) return undefined;
  return new Writer()
    .u32(name.length * 2)
    .text(name)
    .finish();
}

function identity(info: FileInfo): Buffer {
  return new Writer(24).u64(info.share.id).u64(indexOf(info)).u64(0n).finish();
}

/** Whether the rights of a handle permit to query a class. */
export function mayQuery({ access }: FileHandle, { needs }: FileClass): boolean {
  return needs === 0 || has(access, needs);
}

/* Structures in SET_INFO requests ([MS-FSCC] 2.4). */

const basicBytes = 36;
const directoryAttribute = 0x10;
const temporaryAttribute = 0x100;
/** What a client sends instead of a time, so that the server stops or resumes to update that time
 *  with changes of the file ([MS-FSCC] 2.4.7). */
const stopUpdating = -1n;
const resumeUpdating = -2n;

/** FileBasicInformation in a SET_INFO: times and attributes to set. */
interface BasicInformation {
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

/** The number of the class FileRenameInformation. */
const renameClass = 10;
const renameHeadBytes = 20;

/** The new path in a SET_INFO that renames a file, for audit log and request feed. */
export function newPathIn({ infoType, infoClass, data }: SetInfoRequest): string[] | undefined {
  if (infoType !== InfoType.file || infoClass !== renameClass) return undefined;
  const decoded = decodeRename(data);
  return typeof decoded === "number" ? undefined : decoded.name.split("\\");
}

/** Decodes FileRenameInformation; a status if it is malformed. */
export function decodeRename(data: Buffer): { replaces: boolean; name: string } | NtStatus {
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

/** A share, which clients see as a volume (file system), with its size and free space. */
interface Volume {
  readonly space: VolumeSpace;
  readonly share: Pick<ShareAddress, "name" | "id">;
}

interface VolumeClass {
  readonly fixedBytes: number;
  readonly encode: (volume: Volume) => Buffer;
}

const sectorBytes = 512;
const sectorsPerUnit = 8;
const unitBytes = BigInt(sectorBytes * sectorsPerUnit);
const diskDevice = 7;
const remoteDevice = 0x20;
const fileSystemName = "NTFS";
const nameUnitsMax = 255;
/** FileSystemAttributes: FILE_CASE_PRESERVED_NAMES, FILE_UNICODE_ON_DISK and
 *  FILE_PERSISTENT_ACLS. */
const volumeFlags = 0x2 | 0x4 | 0x8;
/** SSINFO_FLAGS_ALIGNED_DEVICE and SSINFO_FLAGS_PARTITION_ALIGNED_ON_DEVICE. */
const alignedFlags = 0x3;

/** The classes of file systems that QUERY_INFO supports, by number in [MS-FSCC]. Encoders have the
 *  name of the class, except for 4: FileFsDevice, 6: FileFsControl, 8: FileFsObjectId. */
export const volumeClasses: Readonly<Record<number, VolumeClass>> = {
  1: { fixedBytes: 24, encode: volumeName },
  3: { fixedBytes: 24, encode: volumeSize },
  4: { fixedBytes: 8, encode: () => new Writer(8).u32(diskDevice).u32(remoteDevice).finish() },
  5: { fixedBytes: 16, encode: volumeAttributes },
  6: { fixedBytes: 48, encode: () => Buffer.alloc(48) },
  7: { fixedBytes: 32, encode: fullSize },
  8: { fixedBytes: 64, encode: ({ share }) => new Writer(64).u64(share.id).zeros(56).finish() },
  11: { fixedBytes: 28, encode: sectors },
};

function volumeName({ space, share }: Volume): Buffer {
  const label = Buffer.from(share.name, "utf16le");
  return new Writer()
    .u64(fileTimeOf(space.createdAt))
    .u32(Number(share.id & 0xffff_ffffn))
    .u32(label.length)
    .u16(0)
    .bytes(label)
    .finish();
}

function volumeSize({ space }: Volume): Buffer {
  return new Writer(24)
    .u64(space.totalBytes / unitBytes)
    .u64(space.freeBytes / unitBytes)
    .u32(sectorsPerUnit)
    .u32(sectorBytes)
    .finish();
}

function fullSize({ space }: Volume): Buffer {
  const free = space.freeBytes / unitBytes;
  return new Writer(32)
    .u64(space.totalBytes / unitBytes)
    .u64(free)
    .u64(free)
    .u32(sectorsPerUnit)
    .u32(sectorBytes)
    .finish();
}

function volumeAttributes(): Buffer {
  const name = Buffer.from(fileSystemName, "utf16le");
  return new Writer().u32(volumeFlags).u32(nameUnitsMax).u32(name.length).bytes(name).finish();
}

function sectors(): Buffer {
  const physical = Number(unitBytes);
  return new Writer(28)
    .u32(sectorBytes)
    .u32(physical)
    .u32(physical)
    .u32(physical)
    .u32(alignedFlags)
    .u32(0)
    .u32(0)
    .finish();
}

const clusterBytes = 4096;
const normalAttribute = 0x80;

/** Times, sizes and attributes of a file, as SMB reports them. Reads do not update the last access
 *  time: unless a client has set it, it is the last write time. `reservedBytes` is the allocation
 *  size that the client has requested for its handle. */
export function factsOf(node: NodeRecord, reservedBytes = 0): FileFacts {
  const size = node.content?.length ?? 0;
  const allocatedBytes = Math.max(size, reservedBytes);
  const isDirectory = node.kind === "directory";
  return {
    created: fileTimeOf(node.created),
    accessed: fileTimeOf(node.lastAccess ?? node.lastWrite),
    written: fileTimeOf(node.lastWrite),
    changed: fileTimeOf(node.change),
    allocated: isDirectory ? 0n : BigInt(Math.ceil(allocatedBytes / clusterBytes) * clusterBytes),
    size: BigInt(size),
    attributes: node.attributes === 0 ? normalAttribute : node.attributes,
  };
}

/** The file id (IndexNumber) that SMB sends. The root directory of a share has the stored id 0,
 *  which means "no id" in SMB, so the id of the share is sent for it. */
export function indexNumberOf(node: NodeRecord, share: bigint): bigint {
  return node.id === rootId ? share : node.id;
}

/** An entry of a QUERY_DIRECTORY response. It has a name beside its record, because the entries `.`
 *  and `..` are not named like the directories that they mean. */
export interface NamedNode {
  readonly name: string;
  readonly node: NodeRecord;
}

/** Writes the fields of an entry that differ between the classes; `index` is the file id. */
type Tail = (writer: Writer, index: bigint) => void;

interface EntryClass {
  /** Set for FileNamesInformation, which has no times, sizes and attributes. */
  readonly namesOnly?: true;
  /** Writes the fields between the length of the name and the name itself. */
  readonly tail: Tail;
  /** Length of the entry without the file name, which follows at this offset. */
  readonly fixedBytes: number;
}

const shortNameBytes = 24;
const none: Tail = () => {};
const withEaSize: Tail = (writer) => void writer.u32(0);
const withShortName: Tail = (writer) => void writer.u32(0).u8(0).u8(0).zeros(shortNameBytes);

/** The classes of directory entries for QUERY_DIRECTORY, by number in [MS-FSCC] 2.4. */
const entryClasses: Readonly<Record<number, EntryClass>> = {
  1: { tail: none, fixedBytes: 64 },
  2: { tail: withEaSize, fixedBytes: 68 },
  3: { tail: withShortName, fixedBytes: 94 },
  12: { namesOnly: true, tail: none, fixedBytes: 12 },
  37: {
    tail: (writer, index) => {
      withShortName(writer, index);
      writer.u16(0).u64(index);
    },
    fixedBytes: 104,
  },
  38: { tail: (writer, index) => void writer.u32(0).u32(0).u64(index), fixedBytes: 80 },
  60: {
    tail: (writer, index) => void writer.u32(0).u32(0).u64(index).u64(0n),
    fixedBytes: 88,
  },
};

/** The smallest buffer for an entry of this class; undefined if the class is not supported. */
export function entryBytesMin(infoClass: number): number | undefined {
  return entryClasses[infoClass]?.fixedBytes;
}

export function encodeEntry(infoClass: number, { name, node }: NamedNode, share: bigint): Buffer {
  const entryClass = entryClasses[infoClass];
  if (entryClass === undefined) throw new Error(`no directory information class ${infoClass}`);
  const bytes = Buffer.from(name, "utf16le");
  const writer = new Writer(entryClass.fixedBytes + bytes.length).u32(0).u32(0);
  if (entryClass.namesOnly === true) return writer.u32(bytes.length).bytes(bytes).finish();
  const facts = factsOf(node);
  writeTimes(writer, facts)
    .u64(facts.size)
    .u64(facts.allocated)
    .u32(facts.attributes)
    .u32(bytes.length);
  entryClass.tail(writer, indexNumberOf(node, share));
  return writer.bytes(bytes).finish();
}

/** How far a client has listed a directory: QUERY_DIRECTORY continues there. Kept by the handle. */
export interface Listing {
  readonly pattern: string;
  /** How many of the entries `.` and `..`, which come first, were returned. */
  dots: 0 | 1 | 2;
  /** Case-folded name at which the enumeration continues. */
  from: string;
  isFinished: boolean;
  /** Whether a response had entries; then the end is STATUS_NO_MORE_FILES, else
   *  STATUS_NO_SUCH_FILE. */
  hasShown: boolean;
}

export function newListing(pattern: string): Listing {
  return { pattern, dots: 0, from: "", isFinished: false, hasShown: false };
}
