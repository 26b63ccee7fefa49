import { createCipheriv, createDecipheriv } from "node:crypto";
import type { SliceCipher } from "../content-ref.ts";

const algorithm = "aes-256-ctr";
const blockBytes = 16;

/** Encrypts a body chunk by chunk, from its start. */
export function bodyCipher(key: Uint8Array, nonce: bigint): (bytes: Uint8Array) => Uint8Array {
  const cipher = createCipheriv(algorithm, key, counterAt(nonce, 0));
  return (bytes) => cipher.update(bytes);
}

/** Decrypts bytes in place, from any offset of the stream. */
export function decryptAt(key: Uint8Array, { nonce, at }: SliceCipher, bytes: Uint8Array): void {
  const decipher = createDecipheriv(algorithm, key, counterAt(nonce, Math.floor(at / blockBytes)));
  const skipped = at % blockBytes;
  if (skipped > 0) decipher.update(new Uint8Array(skipped));
  bytes.set(decipher.update(bytes));
}

/** The counter block: the nonce is its upper half, so streams of a key never share a block if their
 *  nonces differ. */
function counterAt(nonce: bigint, block: number): Uint8Array {
  const counter = new Uint8Array(blockBytes);
  const view = new DataView(counter.buffer);
  view.setBigUint64(0, nonce);
  view.setBigUint64(8, BigInt(block));
  return counter;
}
