import { describe, expect, it } from "vitest";
import { blockListOf, isAddressRange, isListed } from "./source-policy.ts";

describe("ranges of addresses", () => {
  it.each([
    ["10.0.0.0/8", true],
    ["127.0.0.1", true],
    ["fd00::/8", true],
    [" 192.168.0.0/16 ", true],
    ["10.0.0.0/33", false],
    ["10.0.0/8", false],
    ["localhost", false],
    ["10.0.0.0/8/8", false],
    ["", false],
  ])("%s: %s", (text, valid) => {
    expect(isAddressRange(text)).toBe(valid);
  });

  it.each([
    ["10.1.2.3", true],
    ["11.1.2.3", false],
    ["fd12::1", true],
    ["fe80::1", false],
    ["127.0.0.1", true],
  ])("%s is listed: %s", (address, listed) => {
    const list = blockListOf(["10.0.0.0/8", "fd00::/8", "127.0.0.1"]);
    expect(isListed(list, address)).toBe(listed);
  });
});
