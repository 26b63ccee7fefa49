import * as fc from "fast-check";
import { expect, test } from "vitest";
import { base64ByteLength, decodeBase64, encodeBase64 } from "./base64.ts";

test("bytes come back", () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const text = encodeBase64(bytes);
      expect(decodeBase64(text)).toEqual(bytes);
      expect(base64ByteLength(text)).toBe(bytes.length);
    }),
  );
});

test("a view into a larger buffer is encoded alone", () => {
  expect(encodeBase64(new Uint8Array([9, 1, 2, 9]).subarray(1, 3))).toBe("AQI=");
});

test.each([
  "A",
  "AA",
  "AAA",
  "AA=",
  "A===",
  "AAAA=",
  "AA==AAAA",
  "AA-_",
  "AAAA\n",
  " AAAA",
  "Ä===",
])("%j is refused", (text) => {
  expect(decodeBase64(text)).toBeUndefined();
  expect(base64ByteLength(text)).toBeUndefined();
});

test("a text of any length takes no stack", () => {
  const text = "x".repeat(8_000_000);
  expect(base64ByteLength(text)).toBe(6_000_000);
  expect(base64ByteLength(`${text}!!!!`)).toBeUndefined();
});

test.each([
  ["", 0],
  ["AA==", 1],
  ["AB==", 1],
  ["AE==", 1],
  ["AI==", 1],
  ["AQ==", 1],
  ["AAA=", 2],
  ["AAB=", 2],
  ["AAC=", 2],
  ["AAE=", 2],
  ["AAAA", 3],
])("%j", (text, bytes) => {
  expect(decodeBase64(text)?.length).toBe(bytes);
});
