import { describe, expect, it } from "vitest";
import { directFormOf, reachableAddresses } from "./source-policy.ts";

describe("the forms of an address", () => {
  it.each([
    ["10.0.0.1", ["10.0.0.1"]],
    ["2001:db8::1", ["2001:db8::1"]],
    ["::ffff:127.0.0.1", ["::ffff:127.0.0.1", "127.0.0.1"]],
    ["::ffff:7f00:1", ["::ffff:7f00:1", "127.0.0.1"]],
    ["0:0:0:0:0:ffff:7f00:0001", ["0:0:0:0:0:ffff:7f00:0001", "127.0.0.1"]],
    ["[::ffff:a9fe:a9fe]", ["::ffff:a9fe:a9fe", "169.254.169.254"]],
    ["::127.0.0.1", ["::127.0.0.1", "127.0.0.1"]],
    ["::ffff:0:127.0.0.1", ["::ffff:0:127.0.0.1", "127.0.0.1"]],
    ["64:ff9b::a9fe:a9fe", ["64:ff9b::a9fe:a9fe", "169.254.169.254", "0.0.0.0"]],
    ["64:ff9b:1:7f00:0:100::", ["64:ff9b:1:7f00:0:100::", "0.0.0.0", "127.0.0.1"]],
    ["2002:7f00:1::", ["2002:7f00:1::", "127.0.0.1"]],
    ["2001:0:4136:e378:8000:63bf:80ff:fffe", [expect.any(String), "127.0.0.1"]],
    ["2001:db8::5efe:7f00:1", ["2001:db8::5efe:7f00:1", "127.0.0.1"]],
    ["fe80::1%eth0", ["fe80::1"]],
    ["::", ["::", "0.0.0.0"]],
    ["localhost", []],
    ["", []],
  ])("%s: %j", (address, forms) => {
    expect(reachableAddresses(address)).toEqual(forms);
  });

  it.each([
    ["::ffff:127.0.0.1", "127.0.0.1"],
    ["::FFFF:7F00:1", "127.0.0.1"],
    ["::127.0.0.1", "::127.0.0.1"],
    ["64:ff9b::7f00:1", "64:ff9b::7f00:1"],
    ["127.0.0.1", "127.0.0.1"],
    ["nothing", undefined],
  ])("a connection to %s goes to %s", (address, direct) => {
    expect(directFormOf(address)).toBe(direct);
  });
});
