import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import { decodeDescriptor, encodeDescriptor, withNullAudit } from "./descriptor-bytes.ts";
import { formatSddl, parseSddl } from "./security-descriptor.ts";

/** Converts from `x-ms-file-permission-format: binary`, which is the self-relative descriptor in
 *  base64. Undefined if malformed. */
export function sddlFromBinary(base64: string): string | undefined {
  const bytes = decodeBase64(base64);
  const descriptor = bytes && decodeDescriptor(bytes);
  return descriptor && formatSddl(descriptor);
}

/** Converts to the binary format. Undefined if the text is no valid SDDL. */
export function sddlToBinary(sddl: string): string | undefined {
  const descriptor = parseSddl(sddl);
  if (descriptor === undefined) return undefined;
  const bytes = encodeDescriptor(descriptor);
  return encodeBase64(descriptor.audit === undefined ? withNullAudit(bytes) : bytes);
}
