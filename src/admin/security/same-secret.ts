import { createHash, timingSafeEqual } from "node:crypto";

/** Compares secrets in constant time, as digests of equal length: neither content nor length is
 *  revealed. */
export function isSameSecret(left: string, right: string): boolean {
  return timingSafeEqual(digestOf(left), digestOf(right));
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text, "utf8").digest();
}
