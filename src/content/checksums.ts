import { createHash, hash, type Hash } from "node:crypto";
import { combineCrc64, crc64Of, crc64OfNothing } from "./crc64.ts";

export function md5Of(bytes: Uint8Array): Uint8Array {
  return hash("md5", bytes, "buffer");
}

/** What is asked of a body while it streams by. */
export interface ChecksumsWanted {
  readonly md5: boolean;
  readonly crc64: boolean;
}

/** Checksums of a body that comes in stretches. A body of one stretch, as most are, takes the
 *  one-shot path. */
export class BodyChecksums {
  readonly #wanted: ChecksumsWanted;
  #md5: Hash | undefined;
  #onlyDigest: Uint8Array | undefined;
  #crc64 = crc64OfNothing;

  constructor(wanted: ChecksumsWanted) {
    this.#wanted = wanted;
  }

  /** Returns the CRC64 of this stretch alone, if CRC64 is wanted. */
  update(bytes: Uint8Array, last: boolean): bigint | undefined {
    if (this.#wanted.md5) this.#updateMd5(bytes, last);
    if (!this.#wanted.crc64) return undefined;
    const crc = crc64Of(bytes);
    this.#crc64 = combineCrc64(this.#crc64, crc, bytes.length);
    return crc;
  }

  md5(): Uint8Array | undefined {
    if (!this.#wanted.md5) return undefined;
    return this.#onlyDigest ?? this.#md5?.digest() ?? md5Of(new Uint8Array(0));
  }

  crc64(): bigint | undefined {
    return this.#wanted.crc64 ? this.#crc64 : undefined;
  }

  #updateMd5(bytes: Uint8Array, last: boolean): void {
    if (last && this.#md5 === undefined) this.#onlyDigest = md5Of(bytes);
    else (this.#md5 ??= createHash("md5")).update(bytes);
  }
}
