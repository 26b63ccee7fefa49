import { expect, it } from "vitest";
import { isOwnHost } from "./own-source.ts";

it.each([
  ["127.0.0.1:10000", "127.0.0.1:10000", true],
  ["LOCALHOST:10000", "localhost:10000", true],
  ["127.0.0.1:10001", "127.0.0.1:10000", false],
  ["two.blob.localhost:10000", "one.blob.localhost:10000", true],
  ["two.file.localhost:10000", "one.file.localhost:10000", false],
  ["10.0.0.1:10000", "127.0.0.1:10000", false],
  ["two.blob.example.com", "one.blob.localhost:10000", false],
])("%s, asked by way of %s, is this server: %s", (host, asked, own) => {
  expect(isOwnHost(host, asked, "blob")).toBe(own);
});
