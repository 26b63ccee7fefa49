import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import type { ServiceName } from "../../protocol/names.ts";
import { OwnEndpoints } from "./own-endpoints.ts";

const ports = { blob: 10_000, queue: 10_001, table: 10_002, file: 10_003 } as const;

function endpointsAt(host: string, address = host): OwnEndpoints {
  const endpoints = new OwnEndpoints();
  for (const [name, port] of Object.entries(ports)) {
    endpoints.serves(name as ServiceName, () => Promise.reject(new Error("must not be called")));
    endpoints.listens(name as ServiceName, { host, address, port });
  }
  endpoints.listensForAdmin({ host, address, port: 10_010 });
  return endpoints;
}

describe("the service that a URL addresses, for a request to the blob service", () => {
  it.each([
    ["127.0.0.1:10000", "127.0.0.1:10000", "blob"],
    ["LOCALHOST:10000", "localhost:10000", "blob"],
    ["localhost:10000", "127.0.0.1:10000", "blob"],
    ["[::ffff:127.0.0.1]:10000", "127.0.0.1:10000", "blob"],
    ["2130706433:10000", "127.0.0.1:10000", "blob"],
    ["0:10000", "127.0.0.1:10000", "blob"],
    ["127.0.0.1:10003", "127.0.0.1:10000", "file"],
    ["storage:10003", "storage:10000", "file"],
    ["other:10003", "storage:10000", undefined],
    ["two.blob.localhost:10000", "one.blob.localhost:10000", "blob"],
    ["two.file.localhost:10003", "one.blob.localhost:10000", "file"],
    ["two.file.example.com", "one.blob.example.com", "file"],
    ["devstoreaccount1.blob.core.windows.net", "127.0.0.1:10000", "blob"],
    ["devstoreaccount1.file.core.windows.net", "127.0.0.1:10000", "file"],
    ["one.blob.core.windows.net", "127.0.0.1:10000", undefined],
    ["127.0.0.1:10010", "127.0.0.1:10000", undefined],
    ["127.0.0.2:10000", "127.0.0.1:10000", undefined],
    ["10.0.0.1:10000", "127.0.0.1:10000", undefined],
    ["[64:ff9b::7f00:1]:10000", "127.0.0.1:10000", undefined],
    ["two.blob.example.com", "one.blob.localhost:10000", undefined],
  ])("%s, asked by way of %s: %s", (source, host, expected) => {
    const endpoints = endpointsAt("127.0.0.1");
    const url = new URL(`http://${source}/one/container/blob`);
    expect(endpoints.serviceOf(url, { service: "blob", host })).toBe(expected);
  });

  it.each(["127.0.0.1", "127.9.9.9", "[::1]", "localhost", "0.0.0.0"])(
    "%s is a listener at every address",
    (name) => {
      const endpoints = endpointsAt("0.0.0.0");
      const url = new URL(`http://${name}:10003/`);
      expect(endpoints.serviceOf(url, { service: "blob", host: "any" })).toBe("file");
    },
  );
});

describe("the admin listener", () => {
  const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const local = interfaces.map(({ address }) => address);

  it.each(["127.0.0.1", "127.1.2.3", "::1", "0.0.0.0", "::", ...local])("is at %s", (address) => {
    for (const host of ["127.0.0.1", "0.0.0.0", "::"]) {
      expect(endpointsAt(host).isAdmin(address, 10_010)).toBe(true);
      expect(endpointsAt(host).isAdmin(address, 10_000)).toBe(false);
    }
  });

  it("is not at other addresses", () => {
    expect(endpointsAt("0.0.0.0").isAdmin("192.0.2.1", 10_010)).toBe(false);
  });
});
