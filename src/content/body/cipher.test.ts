import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bodyCipher, decryptAt } from "./receive.ts";

describe("a body cipher", () => {
  it("decrypts any range by itself, however the body was chunked", () => {
    const key = randomBytes(32);
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 1, maxLength: 300 }),
        fc.integer({ min: 1, max: 40 }),
        fc.nat(299),
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        (plain, chunk, start, nonce) => {
          const encrypt = bodyCipher(key, nonce);
          const parts: Uint8Array[] = [];
          for (let at = 0; at < plain.length; at += chunk) {
            parts.push(encrypt(plain.subarray(at, at + chunk)));
          }
          const stored = Buffer.concat(parts);
          const from = start % plain.length;
          const range = Uint8Array.from(stored.subarray(from));
          decryptAt(key, { nonce, at: from }, range);
          expect(range).toEqual(plain.slice(from));
        },
      ),
    );
  });

  it("gives other bytes for another nonce", () => {
    const key = randomBytes(32);
    const zeros = new Uint8Array(64);
    expect(bodyCipher(key, 1n)(zeros)).not.toEqual(bodyCipher(key, 2n)(zeros));
  });
});
