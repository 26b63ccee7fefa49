import type { FileInfo } from "../../file/filesystem/info.ts";
import { Writer } from "../wire/writer.ts";
import { writeTimes } from "../wire/file-facts.ts";
import { has, Right } from "./access.ts";
import { factsOf, indexNumberOf } from "./facts.ts";
import type { FileHandle } from "./file-handle.ts";

/** A file information class for QUERY_INFO ([MS-FSCC] 2.4). */
export interface FileClass {
  /** Smallest buffer of the client; a smaller one fails with INFO_LENGTH_MISMATCH. Data beyond this
   *  length may be truncated. */
  readonly fixedBytes: number;
  /** Access rights of which the handle must have one; 0 if it needs none. */
  readonly needs: number;
  /** Undefined if the file has no such information. */
  readonly encode: (info: FileInfo, handle: FileHandle) => Buffer | undefined;
}

const modeBits = 0x103e;

/** The supported information classes, by number. */
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

/** The path from the root of the share, with names as they are stored. */
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

/** The 8.3 name of a file. Only a name that already has this form has one; no others are
 *  generated. */
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

export function mayQuery({ access }: FileHandle, { needs }: FileClass): boolean {
  return needs === 0 || has(access, needs);
}
