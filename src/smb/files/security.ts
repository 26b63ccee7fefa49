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
import { ContextName, type CreateContext } from "../wire/create-contexts.ts";

/** Security descriptors: bytes on the wire, text in the store, as REST keeps it. */

export function descriptorText(contexts: readonly CreateContext[]): string | NtStatus | undefined {
  const context = contexts.find(({ name }) => name === ContextName.securityDescriptor);
  if (context === undefined) return undefined;
  const descriptor = decodePartial(context.data);
  return descriptor === undefined ? Status.invalidParameter : formatSddl(descriptor);
}

/** Only the parts that were asked for; nothing if the stored text makes no sense. */
export function descriptorBytes(sddl: string, parts: number): Buffer | undefined {
  const descriptor = parseSddl(sddl);
  return descriptor && Buffer.from(encodeDescriptor(descriptor, parts));
}

/** The present descriptor with the given parts replaced; nothing if the bytes make no sense. */
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

/** Clients leave out what they do not mean to change, the owner above all. */
function decodePartial(bytes: Buffer): SecurityDescriptor | undefined {
  if (bytes.length < headerBytes) return undefined;
  const whole = Buffer.concat([bytes, systemSid]);
  for (const at of [ownerOffset, groupOffset]) {
    if (whole.readUInt32LE(at) === 0) whole.writeUInt32LE(bytes.length, at);
  }
  return decodeDescriptor(whole);
}
