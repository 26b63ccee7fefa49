import {
  type AccessEntry,
  type AccessList,
  type SecurityDescriptor,
  formatSddl,
  parseSddl,
} from "./security-descriptor.ts";
import { decodeBase64, encodeBase64 } from "../../base/base64.ts";

/** Encodes and decodes security descriptors in self-relative form ([MS-DTYP] 2.4.6), the bytes that
 *  SMB sends and that REST accepts in base64. */

/** Bits of the field Control, and lengths of the parts in bytes. */

const selfRelative = 0x8000;
const accessFlags = { present: 0x4, autoInherited: 0x400, isProtected: 0x1000 } as const;
const auditFlags = { present: 0x10, autoInherited: 0x800, isProtected: 0x2000 } as const;
type ListFlags = typeof accessFlags | typeof auditFlags;
const headerBytes = 20;
const listHeaderBytes = 8;
const entryHeaderBytes = 8;
/** Most entries of an access list, as in `sddl.ts`; further ones are ignored. */
const entriesMax = 2000;
/** Most parts of a SID behind its authority ([MS-DTYP] 2.4.2). */
const subAuthoritiesMax = 15;

/** The parts of a descriptor that an SMB request names, with the bits of SECURITY_INFORMATION
 *  ([MS-DTYP] 2.4.7). */
export const SecurityPart = { owner: 1, group: 2, access: 4, audit: 8 } as const;

const allParts = 0xf;
const nothing = new Uint8Array(0);

/** Encodes the parts of a descriptor that `wanted` (bits of `SecurityPart`) contains. Other parts
 *  and their flags are omitted. */
export function encodeDescriptor(descriptor: SecurityDescriptor, wanted = allParts): Uint8Array {
  const has = (part: number): boolean => (wanted & part) !== 0;
  const { owner, group } = descriptor;
  const access = has(SecurityPart.access) ? descriptor.access : undefined;
  const audit = has(SecurityPart.audit) ? descriptor.audit : undefined;
  // In the order of the service: the lists before the SIDs. The number is the index of the offset
  // in the header.
  const parts = [
    [2, audit === undefined ? nothing : encodeList(audit)],
    [3, access === undefined ? nothing : encodeList(access)],
    [0, has(SecurityPart.owner) ? encodeSid(owner) : nothing],
    [1, has(SecurityPart.group) ? encodeSid(group) : nothing],
  ] as const;
  const total = parts.reduce((sum, [, part]) => sum + part.length, headerBytes);
  const bytes = new Uint8Array(total);
  const view = new DataView(bytes.buffer);
  bytes[0] = 1;
  const control = controlOf(access, accessFlags) | controlOf(audit, auditFlags);
  view.setUint16(2, selfRelative | control, true);
  let at = headerBytes;
  for (const [index, part] of parts) {
    if (part.length === 0) continue;
    view.setUint32(4 + index * 4, at, true);
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** Marks an encoded descriptor without an audit list as one with a null list, as the service writes
 *  `S:NO_ACCESS_CONTROL`. */
function withNullAudit(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  view.setUint16(2, view.getUint16(2, true) | auditFlags.present, true);
  return bytes;
}

/** The bits of the Control field that describe a list; 0 without a list. */
function controlOf(list: AccessList | undefined, flags: ListFlags): number {
  if (list === undefined) return 0;
  const autoInherited = list.autoInherited ? flags.autoInherited : 0;
  return flags.present | autoInherited | (list.isProtected ? flags.isProtected : 0);
}

function encodeList({ entries }: AccessList): Uint8Array {
  const parts = entries.map(encodeEntry);
  const total = parts.reduce((sum, part) => sum + part.length, listHeaderBytes);
  const bytes = new Uint8Array(total);
  const view = new DataView(bytes.buffer);
  bytes[0] = 2;
  view.setUint16(2, total, true);
  view.setUint16(4, parts.length, true);
  let at = listHeaderBytes;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

function encodeEntry({ type, flags, mask, sid }: AccessEntry): Uint8Array {
  const who = encodeSid(sid);
  const bytes = new Uint8Array(entryHeaderBytes + who.length);
  const view = new DataView(bytes.buffer);
  bytes[0] = type;
  bytes[1] = flags;
  view.setUint16(2, bytes.length, true);
  view.setUint32(4, mask, true);
  bytes.set(who, entryHeaderBytes);
  return bytes;
}

/** Encodes a SID (the id of a user or group), such as `S-1-5-18` ([MS-DTYP] 2.4.2.2). */
export function encodeSid(sid: string): Uint8Array {
  const [authority = "0", ...rest] = sid.split("-").slice(2);
  const bytes = new Uint8Array(8 + rest.length * 4);
  const view = new DataView(bytes.buffer);
  bytes[0] = 1;
  bytes[1] = rest.length;
  view.setUint16(2, Number(BigInt(authority) >> 32n));
  view.setUint32(4, Number(BigInt(authority) & 0xffff_ffffn));
  for (const [index, part] of rest.entries()) view.setUint32(8 + index * 4, Number(part), true);
  return bytes;
}

/** Decodes a security descriptor from its self-relative bytes; undefined if they are malformed. */
export function decodeDescriptor(bytes: Uint8Array): SecurityDescriptor | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const control = view.getUint16(2, true);
    const offset = (index: number) => view.getUint32(4 + index * 4, true);
    const hasAudit = (control & auditFlags.present) !== 0 && offset(2) !== 0;
    const list = (index: number, flags: ListFlags): AccessList => ({
      isProtected: (control & flags.isProtected) !== 0,
      autoInherited: (control & flags.autoInherited) !== 0,
      entries: decodeEntries(view, offset(index)),
    });
    return {
      owner: decodeSid(view, offset(0)),
      group: decodeSid(view, offset(1)),
      access: list(3, accessFlags),
      audit: hasAudit ? list(2, auditFlags) : undefined,
    };
  } catch (error) {
    // A read beyond the end: an offset or a length in the bytes is wrong.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function decodeEntries(view: DataView, start: number): readonly AccessEntry[] {
  if (start === 0) return [];
  const count = Math.min(view.getUint16(start + 4, true), entriesMax);
  const entries: AccessEntry[] = [];
  let at = start + listHeaderBytes;
  for (let index = 0; index < count; index += 1) {
    const length = view.getUint16(at + 2, true);
    if (length < entryHeaderBytes) throw new RangeError("an entry without a length");
    entries.push({
      type: view.getUint8(at),
      flags: view.getUint8(at + 1),
      mask: view.getUint32(at + 4, true),
      sid: decodeSid(view, at + entryHeaderBytes),
    });
    at += length;
  }
  return entries;
}

function decodeSid(view: DataView, at: number): string {
  const count = view.getUint8(at + 1);
  if (at === 0 || count > subAuthoritiesMax) throw new RangeError("no such SID");
  const authority = (BigInt(view.getUint16(at + 2)) << 32n) | BigInt(view.getUint32(at + 4));
  let sid = `S-1-${authority}`;
  for (let index = 0; index < count; index += 1) {
    sid += `-${view.getUint32(at + 8 + index * 4, true)}`;
  }
  return sid;
}

/** Converts a permission in a REST request with `x-ms-file-permission-format: binary`, which is a
 *  self-relative descriptor in base64, to SDDL. Undefined if malformed. */
export function sddlFromBinary(base64: string): string | undefined {
  const bytes = decodeBase64(base64);
  const descriptor = bytes && decodeDescriptor(bytes);
  return descriptor && formatSddl(descriptor);
}

/** Converts a permission for a REST response in binary format. Undefined if not valid. */
export function sddlToBinary(sddl: string): string | undefined {
  const descriptor = parseSddl(sddl);
  if (descriptor === undefined) return undefined;
  const bytes = encodeDescriptor(descriptor);
  return encodeBase64(descriptor.audit === undefined ? withNullAudit(bytes) : bytes);
}
