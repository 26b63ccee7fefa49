import { describe, expect, it } from "vitest";
import { blockListOf, isAddressRange, isBarred } from "./forbidden-addresses.ts";

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
    ["::ffff:10.1.2.3", true],
    ["fd12::1", true],
    ["fe80::1", false],
    ["127.0.0.1", true],
  ])("%s is barred: %s", (address, barred) => {
    const list = blockListOf(["10.0.0.0/8", "fd00::/8", "127.0.0.1"]);
    expect(isBarred(list, address)).toBe(barred);
  });
});
