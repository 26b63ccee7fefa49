import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { acquireBuffer, copyInto, releaseBuffer } from "../../process/bytes.ts";
import {
  BodyChecksums,
  md5Of,
  combineCrc64,
  crc64Bytes,
  crc64BytesOf,
  crc64Of,
} from "./checksums.ts";

function bitByBit(bytes: Uint8Array): bigint {
  let high = -1;
  let low = -1;
  for (const byte of bytes) {
    low ^= byte;
    for (let bit = 0; bit < 8; bit += 1) {
      const isOdd = (low & 1) === 1;
      low = (low >>> 1) | (high << 31);
      high >>>= 1;
      if (isOdd) low ^= 0xac4b_c9b5;
      if (isOdd) high ^= 0x9a6c_9329;
    }
  }
  return (BigInt(~high >>> 0) << 32n) | BigInt(~low >>> 0);
}

const text = (value: string): Uint8Array => new TextEncoder().encode(value);

describe("CRC64", () => {
  test("agrees with the published check value", () => {
    expect(crc64Of(text("123456789"))).toBe(0xae8b14860a799888n);
    expect(crc64Of(new Uint8Array(0))).toBe(0n);
  });

  test.each([1, 7, 8, 9, 8191, 8192, 8207, 65_536, 65_537, 200_003])(
    "of %i bytes agrees with a computation bit by bit, in buffers and elsewhere",
    (length) => {
      const bytes = Buffer.from(Array.from({ length }, (_, index) => (index * 7919) >> 3));
      const buffer = acquireBuffer();
      copyInto(buffer, bytes, 3);
      const expected = bitByBit(bytes);
      expect(crc64Of(bytes)).toBe(expected);
      expect(crc64Of(buffer.subarray(3, 3 + length))).toBe(expected);
      releaseBuffer(buffer);
    },
  );

  test("is little-endian on the wire", () => {
    expect([...crc64Bytes(0x0102030405060708n)]).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
    expect(crc64BytesOf(text("123456789"))).toEqual(crc64Bytes(0xae8b14860a799888n));
  });

  test("of two parts combines to that of the whole", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
        const combined = combineCrc64(crc64Of(a), crc64Of(b), b.length);
        expect(combined).toBe(crc64Of(Buffer.concat([a, b])));
      }),
    );
  });

  test("combines across a long second part", () => {
    const long = Buffer.alloc(1_234_567, 0x5a);
    const whole = Buffer.concat([text("start"), long]);
    expect(combineCrc64(crc64Of(text("start")), crc64Of(long), long.length)).toBe(crc64Of(whole));
  });
});

describe("checksums of a body", () => {
  test("do not depend on the chunks", async () => {
    const partLists = fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(partLists, async (parts) => {
        const sums = new BodyChecksums({ md5: true, crc64: true });
        parts.forEach((part, index) => sums.update(part, index === parts.length - 1));
        const whole = Buffer.concat(parts);
        expect(sums.crc64()).toBe(crc64Of(whole));
        expect(Buffer.from((await sums.md5()) ?? [])).toEqual(
          createHash("md5").update(whole).digest(),
        );
      }),
    );
  });

  test("are undefined if not requested", () => {
    const sums = new BodyChecksums({ md5: false, crc64: false });
    expect(sums.update(text("x"), true)).toBeUndefined();
    expect([sums.md5(), sums.crc64()]).toEqual([undefined, undefined]);
    expect(md5Of(text("")).length).toBe(16);
  });
});
