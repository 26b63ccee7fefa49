import * as fc from "fast-check";
import { expect, test } from "vitest";
import { guidFromBytes, parseGuid } from "./guid.ts";

const canonical = "d92e6954-3274-4715-811c-727ca7145303";

test.each([
  [canonical, canonical],
  [canonical.toUpperCase(), canonical],
  [canonical.replaceAll("-", ""), canonical],
  [`{${canonical}}`, canonical],
  [`(${canonical})`, canonical],
  [`{${canonical})`, undefined],
  [`{${canonical.replaceAll("-", "")}}`, undefined],
  [`'${canonical}'`, undefined],
  ['"garbage"', undefined],
  [`${canonical}0`, undefined],
  ["", undefined],
])("%j", (text, expected) => {
  expect(parseGuid(text)).toBe(expected);
});

test("random bytes give a version 4 GUID in canonical form", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
      const guid = guidFromBytes(bytes);
      expect(guid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(parseGuid(guid)).toBe(guid);
    }),
  );
});
