const stateBytes = 256;

/** The RC4 stream cipher, which NTLM requires for its key exchange and its signatures ([MS-NLMP]
 *  3.4). `smb/ntlm/login.ts` uses it for nothing else, because RC4 is broken. Written here because
 *  OpenSSL 3 does not enable it. */
export class Rc4 {
  readonly #state = Uint8Array.from({ length: stateBytes }, (_, index) => index);
  #i = 0;
  #j = 0;

  constructor(key: Uint8Array) {
    let j = 0;
    for (let i = 0; i < stateBytes; i += 1) {
      j = (j + this.#state[i]! + key[i % key.length]!) & 0xff;
      this.#swap(i, j);
    }
  }

  apply(data: Uint8Array): Buffer {
    const output = Buffer.alloc(data.length);
    for (const [index, byte] of data.entries()) {
      this.#i = (this.#i + 1) & 0xff;
      this.#j = (this.#j + this.#state[this.#i]!) & 0xff;
      this.#swap(this.#i, this.#j);
      const sum = this.#state[this.#i]! + this.#state[this.#j]!;
      output[index] = byte ^ this.#state[sum & 0xff]!;
    }
    return output;
  }

  #swap(left: number, right: number): void {
    const kept = this.#state[left]!;
    this.#state[left] = this.#state[right]!;
    this.#state[right] = kept;
  }
}
