import {
  decodeDescriptor,
  encodeDescriptor,
  encodeSid,
  SecurityPart,
} from "../../file/shared/descriptor-bytes.ts";
import {
  formatSddl,
  parseSddl,
  type SecurityDescriptor,
} from "../../file/shared/security-descriptor.ts";
import { Status, type NtStatus } from "../status.ts";
import { contextData, ContextName, type CreateRequest } from "../wire/create.ts";

/** Security descriptors (owner, group and access lists of a file), which SMB sends in binary form.
 *  They are stored as texts in SDDL (security descriptor definition language), as REST has them.
 *  CREATE, QUERY_INFO and SET_INFO call these functions. */

/** The security descriptor of a CREATE in SDDL. Undefined if the request has none; a status if it
 *  is malformed. */
export function descriptorText(create: CreateRequest): string | NtStatus | undefined {
  const context = contextData(create, ContextName.securityDescriptor);
  if (context === undefined) return undefined;
  const descriptor = decodePartial(context);
  return descriptor === undefined ? Status.invalidParameter : formatSddl(descriptor);
}

/** The parts of a stored descriptor that a QUERY_INFO requests (`SecurityPart` bits), in binary
 *  form; undefined if the stored SDDL is malformed. */
export function descriptorBytes(sddl: string, parts: number): Buffer | undefined {
  const descriptor = parseSddl(sddl);
  return descriptor && Buffer.from(encodeDescriptor(descriptor, parts));
}

/** The SDDL of `present` with the parts of `given` that a SET_INFO names (`SecurityPart` bits);
 *  undefined if the bytes are malformed. */
export function mergeDescriptor(present: string, given: Buffer, parts: number): string | undefined {
  const before = parseSddl(present);
  const next = decodePartial(given);
  if (before === undefined || next === undefined) return undefined;
  return formatSddl({
    owner: (parts & SecurityPart.owner) === 0 ? before.owner : next.owner,
    group: (parts & SecurityPart.group) === 0 ? before.group : next.group,
    access: (parts & SecurityPart.access) === 0 ? before.access : next.access,
    audit: (parts & SecurityPart.audit) === 0 ? before.audit : next.audit,
  });
}

const headerBytes = 20;
const ownerOffset = 4;
const groupOffset = 8;
const systemSid = Buffer.from(encodeSid("S-1-5-18"));

/** Decodes a descriptor that may lack owner and group, for which SYSTEM is substituted. */
function decodePartial(bytes: Buffer): SecurityDescriptor | undefined {
  if (bytes.length < headerBytes) return undefined;
  const whole = Buffer.concat([bytes, systemSid]);
  for (const at of [ownerOffset, groupOffset]) {
    if (whole.readUInt32LE(at) === 0) whole.writeUInt32LE(bytes.length, at);
  }
  return decodeDescriptor(whole);
}
