import { createHash, hash, type Hash } from "node:crypto";
import type { Awaitable } from "../../base/awaitable.ts";
import { combineCrc64, crc64Of, crc64OfNothing } from "./crc64.ts";
import type { Md5Sum } from "./md5-thread.ts";

const noop = (): void => undefined;

export function md5Of(bytes: Uint8Array): Uint8Array {
  return hash("md5", bytes, "buffer");
}

/** Checksums to compute while a body is received. */
interface ChecksumOptions {
  readonly md5: boolean;
  readonly crc64: boolean;
}

/** Computes the checksums of a body that arrives in chunks. A body of one chunk, as most are, uses
 *  the faster one-shot hash. */
export class BodyChecksums {
  readonly #options: ChecksumOptions;
  /** Computes the MD5 on a thread; undefined: it is computed here. */
  readonly #threadMd5: Md5Sum | undefined;
  #md5: Hash | undefined;
  #threadDigest: Promise<Uint8Array> | undefined;
  #singleDigest: Uint8Array | undefined;
  #crc64 = crc64OfNothing;

  /** Resolves when the thread has read the bytes of all updates; undefined without a thread. */
  hashed: Promise<void> | undefined;

  constructor(wanted: ChecksumOptions, threadMd5?: Md5Sum) {
    this.#options = wanted;
    this.#threadMd5 = wanted.md5 ? threadMd5 : undefined;
  }

  /** Returns the CRC64 of this chunk alone, if CRC64 is requested. The bytes must not be changed
   *  before `hashed` resolves. */
  update(bytes: Uint8Array, last: boolean): bigint | undefined {
    if (this.#threadMd5 !== undefined) this.#updateOnThread(bytes, last, this.#threadMd5);
    else if (this.#options.md5) this.#updateMd5(bytes, last);
    if (!this.#options.crc64) return undefined;
    const crc = crc64Of(bytes);
    this.#crc64 = combineCrc64(this.#crc64, crc, bytes.length);
    return crc;
  }

  md5(): Awaitable<Uint8Array | undefined> {
    if (!this.#options.md5) return undefined;
    if (this.#threadMd5 !== undefined) return this.#threadDigest ?? this.#threadMd5.digest();
    return this.#singleDigest ?? this.#md5?.digest() ?? md5Of(new Uint8Array(0));
  }

  crc64(): bigint | undefined {
    return this.#options.crc64 ? this.#crc64 : undefined;
  }

  /** Called instead of `md5` if the body was not received completely. */
  abandon(): void {
    if (this.#threadDigest === undefined) this.#threadMd5?.abandon();
  }

  #updateOnThread(bytes: Uint8Array, last: boolean, sum: Md5Sum): void {
    if (last) this.#threadDigest = sum.digest(bytes);
    this.hashed = this.#threadDigest?.then(noop) ?? sum.update(bytes);
    // A failure is thrown where the promise is awaited.
    this.hashed.catch(() => undefined);
  }

  #updateMd5(bytes: Uint8Array, last: boolean): void {
    if (last && this.#md5 === undefined) this.#singleDigest = md5Of(bytes);
    else (this.#md5 ??= createHash("md5")).update(bytes);
  }
}
