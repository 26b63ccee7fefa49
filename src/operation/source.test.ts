import { expect, it } from "vitest";
import { withoutSignature } from "./source.ts";

it.each([
  ["http://h/c/b", "http://h/c/b"],
  ["http://h/c/b?sv=1&sig=abc", "http://h/c/b?sv=1"],
  ["http://h/c/b?sig=abc", "http://h/c/b"],
  ["http://h/c/b?snapshot=1&SIG=abc&sp=r", "http://h/c/b?snapshot=1&sp=r"],
])("%s is shown as %s", (url, shown) => {
  expect(withoutSignature(url)).toBe(shown);
});
