import { describe, expect, it } from "vitest";

import { Addresses, addressesOf, isDatabaseAddress, withoutPassword } from "./addresses.ts";

describe("the address of a database", () => {
  it.each([
    ["postgres://one/name", ["postgres://one/name"]],
    [
      "postgres://me:p%40ss@one:1,two:2/name?sslmode=require",
      [
        "postgres://me:p%40ss@one:1/name?sslmode=require",
        "postgres://me:p%40ss@two:2/name?sslmode=require",
      ],
    ],
    ["postgresql://[::1]:5,127.0.0.1/a", ["postgresql://[::1]:5/a", "postgresql://127.0.0.1/a"]],
  ])("%s names its servers", (location, servers) => {
    expect(addressesOf(location)).toEqual(servers);
  });

  it.each(["mysql://one/name", "postgres://a,b,c,d,e,f,g,h,i/name", "postgres://one:x/name"])(
    "%s is rejected",
    (location) => {
      expect(() => addressesOf(location)).toThrow();
      expect(isDatabaseAddress(location)).toBe(false);
    },
  );

  it.each([
    ["postgres://me:secret@one:1,two:2/name", "postgres://me:***@one:1,two:2/name"],
    ["postgres://me@one:1,two:2/name?a=b:c@d", "postgres://me@one:1,two:2/name?a=b:c@d"],
    ["postgres://:secret@one/name", "postgres://:***@one/name"],
  ])("%s is shown without its password", (location, shown) => {
    expect(withoutPassword(location)).toBe(shown);
  });
});

describe("several servers", () => {
  it("are tried one after the other, however many connections report that the current one failed", () => {
    const addresses = new Addresses(["a", "b", "c"]);
    addresses.failed("a");
    addresses.failed("a");
    expect(addresses.current).toBe("b");
    addresses.failed("b");
    addresses.failed("c");
    expect(addresses.current).toBe("a");
  });
});
