/** The hash function MD4 (RFC 1320), from which NTLM computes the hash of a password, and the
 *  cipher RC4, with which it protects a session key (`smb/ntlm/login.ts`). Written here because
 *  OpenSSL 3, which Node.js uses, does not enable them. */

const blockBytes = 64;
const lengthBytes = 8;
const firstOrder = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const secondOrder = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
const thirdOrder = [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15];

interface Round {
  readonly mix: (b: number, c: number, d: number) => number;
  readonly constant: number;
  readonly order: readonly number[];
  readonly shifts: readonly number[];
}

const rounds: readonly Round[] = [
  { mix: (b, c, d) => (b & c) | (~b & d), constant: 0, order: firstOrder, shifts: [3, 7, 11, 19] },
  {
    mix: (b, c, d) => (b & c) | (b & d) | (c & d),
    constant: 0x5a827999,
    order: secondOrder,
    shifts: [3, 5, 9, 13],
  },
  {
    mix: (b, c, d) => b ^ c ^ d,
    constant: 0x6ed9eba1,
    order: thirdOrder,
    shifts: [3, 9, 11, 15],
  },
];

type State = [number, number, number, number];

export function md4(message: Uint8Array): Buffer {
  const padded = pad(message);
  let state: State = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476];
  for (let at = 0; at < padded.length; at += blockBytes) state = digestBlock(state, padded, at);
  const digest = Buffer.alloc(16);
  state.forEach((word, index) => digest.writeInt32LE(word, index * 4));
  return digest;
}

function pad(message: Uint8Array): Buffer {
  const blocks = Math.ceil((message.length + 1 + lengthBytes) / blockBytes);
  const padded = Buffer.alloc(blocks * blockBytes);
  padded.set(message);
  padded[message.length] = 0x80;
  padded.writeBigUInt64LE(BigInt(message.length) * 8n, padded.length - lengthBytes);
  return padded;
}

function digestBlock(before: State, padded: Buffer, at: number): State {
  let [a, b, c, d] = before;
  for (const { mix, constant, order, shifts } of rounds) {
    for (const [step, word] of order.entries()) {
      const sum = (a + mix(b, c, d) + padded.readInt32LE(at + word * 4) + constant) | 0;
      const shift = shifts[step % shifts.length]!;
      [a, d, c, b] = [d, c, b, (sum << shift) | (sum >>> (32 - shift))];
    }
  }
  return [(before[0] + a) | 0, (before[1] + b) | 0, (before[2] + c) | 0, (before[3] + d) | 0];
}

const stateBytes = 256;

/** The RC4 stream cipher, which NTLM requires for its key exchange and its signatures ([MS-NLMP]
 *  3.4). Used for nothing else, because RC4 is broken. */
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

  /** Encrypts or decrypts the next bytes: both are the same operation. */
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
