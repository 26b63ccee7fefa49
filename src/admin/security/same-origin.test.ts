import { describe, expect, it } from "vitest";
import { isCrossSite, isLoopback, isOwnHost } from "./same-origin.ts";

describe("a request", () => {
  const host = "127.0.0.1:10004";
  it.each([
    [{ host }, false],
    [{ host, "sec-fetch-site": "none" }, false],
    [{ host, "sec-fetch-site": "same-origin", origin: "http://127.0.0.1:10004" }, false],
    [{ host, origin: "https://127.0.0.1:10004" }, false],
    [{ host, origin: "http://127.0.0.1:10000" }, true],
    [{ host, origin: "http://127.0.0.1:10004.evil.example" }, true],
    [{ host, origin: "null" }, true],
    [{ host, "sec-fetch-site": "same-site" }, true],
    [{ host, "sec-fetch-site": "cross-site" }, true],
    [{ origin: "http://127.0.0.1:10004" }, true],
  ])("with %j is cross-site: %s", (headers, expected) => {
    expect(isCrossSite(headers)).toBe(expected);
  });
});

it.each([
  ["127.0.0.1", true],
  ["127.0.0.1:10004", true],
  ["[::1]:10004", true],
  ["localhost:10004", true],
  ["LOCALHOST", true],
  ["a.localhost:1", true],
  ["192.168.1.5:10004", true],
  ["evil.example", false],
  ["127.0.0.1.evil.example", false],
  ["localhost.evil.example:10004", false],
  ["notlocalhost", false],
  ["", false],
  [undefined, false],
])("the host %s is accepted: %s", (host, expected) => {
  expect(isOwnHost(host)).toBe(expected);
});

it.each([
  ["127.0.0.1", true],
  ["127.1.2.3", true],
  ["::1", true],
  ["localhost", true],
  ["0.0.0.0", false],
  ["::", false],
  ["127.0.0.1.evil.example", false],
  ["192.168.1.5", false],
])("%s is a loopback address: %s", (host, expected) => {
  expect(isLoopback(host)).toBe(expected);
});
