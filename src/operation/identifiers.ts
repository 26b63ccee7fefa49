import type { Random } from "../base/world.ts";

/** New ids of records, and GUIDs for the ids that clients see. Both are random, so that processes
 *  need not coordinate. */

/** The id of a new container, share, queue, table or directory: 63 bits. A counter would make
 *  creations conflict with each other. */
export function newId(random: Random): bigint {
  const bytes = random.bytes(8);
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0) >> 1n;
}

/** A random GUID (version 4) in canonical lower-case form. */
export function newGuid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString("hex");
  const [first, second, third] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16)];
  return `${first}-${second}-${third}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
