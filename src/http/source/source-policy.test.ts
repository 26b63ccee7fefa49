import { describe, expect, it } from "vitest";
import { OwnEndpoints } from "./own-endpoints.ts";
import { sourcePolicy } from "./source-policy.ts";

const port = 8080;
const storagePort = 10_000;
const adminPort = 10_010;

function policyOf(allowed: readonly string[], forbidden: readonly string[] = []) {
  const endpoints = new OwnEndpoints();
  const own = { host: "127.0.0.1", address: "127.0.0.1" };
  endpoints.listens("blob", { ...own, port: storagePort });
  endpoints.listensForAdmin({ ...own, port: adminPort });
  return sourcePolicy({ allowed, forbidden }, endpoints);
}

const loopback = [
  "127.0.0.1",
  "127.255.255.254",
  "::1",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::127.0.0.1",
  "::ffff:0:7f00:1",
  "64:ff9b::127.0.0.1",
  "64:ff9b:1::7f00:1",
  "2002:7f00:1::1",
];
const others = [
  "0.0.0.0",
  "0.1.2.3",
  "::",
  "169.254.169.254",
  "fe80::1",
  "fe80::1%eth0",
  "::ffff:169.254.169.254",
  "::a9fe:a9fe",
  "64:ff9b::a9fe:a9fe",
  "2002:a9fe:a9fe::",
  "100.100.100.200",
  "168.63.129.16",
  "fd00:ec2::254",
  "not an address",
];

describe("a source", () => {
  it.each([...loopback, ...others])("at %s is blocked", (address) => {
    expect(policyOf([]).permits(address, port)).toBe(false);
  });

  it.each(["10.0.0.1", "172.16.0.1", "192.168.1.1", "fd12::1", "8.8.8.8", "2001:4860::8888"])(
    "at %s is read",
    (address) => {
      expect(policyOf([]).permits(address, port)).toBe(true);
    },
  );

  it.each(loopback)("at %s is read if its range is allowed", (address) => {
    const allowing = policyOf(["127.0.0.0/8", "::1"]);
    expect(allowing.permits(address, port)).toBe(true);
    expect(allowing.permits("169.254.169.254", port)).toBe(false);
    expect(policyOf(["0.0.0.0/0", "::/0"], ["127.0.0.0/8", "::1"]).permits(address, port)).toBe(
      false,
    );
  });

  it.each([...loopback, "0.0.0.0", "::"])("at %s is never the admin listener", (address) => {
    const everything = policyOf(["0.0.0.0/0", "::/0"]);
    expect(everything.permits(address, adminPort)).toBe(false);
    expect(everything.permits(address, port)).toBe(true);
  });

  it("is read from this server's storage by any of its names, unless it is forbidden", () => {
    for (const address of ["127.0.0.1", "::ffff:7f00:1", "0.0.0.0"]) {
      expect(policyOf([]).permits(address, storagePort)).toBe(true);
      expect(policyOf([], ["127.0.0.0/8", "0.0.0.0/8"]).permits(address, storagePort)).toBe(false);
    }
    expect(policyOf([]).permits("64:ff9b::7f00:1", storagePort)).toBe(false);
    expect(policyOf([]).permits("127.0.0.2", storagePort)).toBe(false);
  });
});
