import { createHash, hash, type Hash } from "node:crypto";
import { combineCrc64, crc64Of, crc64OfNothing } from "./crc64.ts";

export function md5Of(bytes: Uint8Array): Uint8Array {
  return hash("md5", bytes, "buffer");
}

/** Checksums to compute while a body is received. */
export interface ChecksumOptions {
  readonly md5: boolean;
  readonly crc64: boolean;
}

/** Computes the checksums of a body that arrives in chunks. A body of one chunk, as most are, uses
 *  the faster one-shot hash. */
export class BodyChecksums {
  readonly #options: ChecksumOptions;
  #md5: Hash | undefined;
  #singleDigest: Uint8Array | undefined;
  #crc64 = crc64OfNothing;

  constructor(wanted: ChecksumOptions) {
    this.#options = wanted;
  }

  /** Returns the CRC64 of this chunk alone, if CRC64 is requested. */
  update(bytes: Uint8Array, last: boolean): bigint | undefined {
    if (this.#options.md5) this.#updateMd5(bytes, last);
    if (!this.#options.crc64) return undefined;
    const crc = crc64Of(bytes);
    this.#crc64 = combineCrc64(this.#crc64, crc, bytes.length);
    return crc;
  }

  md5(): Uint8Array | undefined {
    if (!this.#options.md5) return undefined;
    return this.#singleDigest ?? this.#md5?.digest() ?? md5Of(new Uint8Array(0));
  }

  crc64(): bigint | undefined {
    return this.#options.crc64 ? this.#crc64 : undefined;
  }

  #updateMd5(bytes: Uint8Array, last: boolean): void {
    if (last && this.#md5 === undefined) this.#singleDigest = md5Of(bytes);
    else (this.#md5 ??= createHash("md5")).update(bytes);
  }
}
