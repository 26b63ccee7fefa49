import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { accountSas } from "../harness/raw-client.ts";
import { testServer } from "../harness/server.ts";
import {
  contents,
  copyOperations,
  digestOf,
  makeTargets,
  type Clients,
} from "./copy-operations.ts";
import { loopbackServer } from "./loopback-server.ts";

/** Results of successive DNS lookups; the last one repeats. */
const answers = new Map<string, string[][]>();

const systemLookup = dns.lookup;
const lookup = vi.fn((name: string, options: never, done: never) => {
  const known = answers.get(name);
  if (known === undefined) return systemLookup(name, options, done);
  const [first = []] = known.length > 1 ? known.splice(0, 1) : known;
  const found = first.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  return (done as (error: null, found: object[]) => void)(null, found);
});

/** Since the test began. A copy in the background may look up other names. */
function lookupsOf(name: string): number {
  return lookup.mock.calls.filter(([asked]) => asked === name).length;
}

/** Changes the module itself, not a mock of it: test files share their modules. */
function useLookup(next: typeof dns.lookup): void {
  dns.lookup = next;
  syncBuiltinESMExports();
}

beforeAll(() => useLookup(lookup as unknown as typeof dns.lookup));
afterAll(() => useLookup(systemLookup));

const loopback = [
  "127.0.0.1",
  "localhost",
  "LOCALHOST.",
  "any.localhost",
  "0",
  "0.0.0.0",
  "127.1",
  "127.0.0.2",
  "2130706433",
  "0x7f000001",
  "0x7f.1",
  "0177.0.0.1",
  "017700000001",
  "127.0.0.1.",
  "%31%32%37.0.0.1",
  "%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1",
  "[::1]",
  "[::]",
  "[0:0:0:0:0:0:0:1]",
  "[::ffff:127.0.0.1]",
  "[::ffff:7f00:1]",
  "[::127.0.0.1]",
  "[::ffff:0:127.0.0.1]",
  "[64:ff9b::127.0.0.1]",
  "[64:ff9b:1::7f00:1]",
  "[2002:7f00:1::]",
  "loopback.test",
  "loopback6.test",
  "mapped.test",
  "unspecified.test",
];
const linkLocal = [
  "169.254.169.254",
  "[fe80::1]",
  "[::ffff:169.254.169.254]",
  "[::169.254.169.254]",
  "[64:ff9b::a9fe:a9fe]",
  "[2002:a9fe:a9fe::]",
  "metadata.test",
];

answers.set("localhost.", [["127.0.0.1"]]);
answers.set("any.localhost", [["::1", "127.0.0.1"]]);
answers.set("loopback.test", [["127.0.0.1"]]);
answers.set("loopback6.test", [["::1"]]);
answers.set("mapped.test", [["::ffff:7f00:1"]]);
answers.set("unspecified.test", [["0.0.0.0"]]);
answers.set("metadata.test", [["169.254.169.254", "fe80::1%lo"]]);

const bytes = Buffer.alloc(512, "secret");
const secret = loopbackServer((_request, response) => response.end(bytes));
const held = testServer();
const open = testServer({ allowedSources: "0.0.0.0/0,::/0", adminToken: "a token of some length" });
const refused = [403, "CannotVerifyCopySource"];
let clients: Clients;
let openClients: Clients;

beforeAll(async () => {
  clients = await makeTargets(held.server);
  openClients = await makeTargets(open.server);
});
beforeEach(() => {
  lookup.mockClear();
});

describe.each(copyOperations)("$name", ({ service, call }) => {
  const send = async (source: string, to = clients): Promise<unknown[]> => {
    const { status, code } = await to[service].send(call(source));
    return [status, code];
  };

  it("reads nothing of this machine, for any notation of the address", async () => {
    const before = await contents(clients);
    for (const host of [...loopback, ...linkLocal]) {
      const tried = [host, ...(await send(`http://${host}:${secret.port}/secret`))];
      expect(tried).toEqual([host, ...refused]);
    }
    expect(secret.requests).toEqual([]);
    expect(await contents(clients)).toEqual(before);
  });

  it("never reaches the admin listener, whatever the flags allow", async () => {
    const before = await contents(openClients);
    const { port } = new URL(open.server.adminUrl);
    for (const host of loopback) {
      for (const path of ["/admin/v1/accounts/devstoreaccount1/key", "/metrics", "/healthz"]) {
        const tried = [host, ...(await send(`http://${host}:${port}${path}`, openClients))];
        expect(tried).toEqual([host, ...refused]);
      }
    }
    expect(await contents(openClients)).toEqual(before);
  });

  it("is rejected by the admin listener of another server", async () => {
    const before = await contents(openClients);
    const { port } = new URL(held.server.adminUrl);
    for (const path of ["/admin/v1/accounts/devstoreaccount1/key", "/metrics", "/healthz", "/"]) {
      const tried = [path, ...(await send(`http://127.0.0.1:${port}${path}`, openClients))];
      expect(tried).toEqual([path, ...refused]);
    }
    expect(await contents(openClients)).toEqual(before);
  });

  it("follows no redirect", async () => {
    const place = `http://127.0.0.1:${secret.port}/secret`;
    redirecting.to = place;
    const { port } = redirecting.server;
    const [status, code] = await send(`http://127.0.0.1:${port}/moved`, openClients);
    expect([status, code]).toEqual([409, "CannotVerifyCopySource"]);
    expect(secret.requests).toEqual([]);
  });

  it("connects to the address that was checked, whatever a second lookup returns", async () => {
    const changes = [["192.0.2.1", "127.0.0.1"], ["127.0.0.1"]];
    answers.set("later.test", [["127.0.0.1"], ["192.0.2.1"]]);
    expect(await send(`http://later.test:${secret.port}/secret`)).toEqual(refused);
    expect(lookupsOf("later.test")).toBe(1);
    // Of several addresses, only the allowed ones are used.
    answers.set("mixed.test", [["127.0.0.1", "::1", "169.254.169.254"], ...changes]);
    expect(await send(`http://mixed.test:${secret.port}/secret`)).toEqual(refused);
    expect(lookupsOf("mixed.test")).toBe(1);
    expect(secret.requests).toEqual([]);
  });

  it("reads what a flag allows, with one lookup and the header that admin listeners reject", async () => {
    answers.set("allowed.test", [["127.0.0.1"], ["192.0.2.1"], ["192.0.2.1"]]);
    const [status] = await send(`http://allowed.test:${secret.port}/secret`, openClients);
    expect(status).toBeLessThan(300);
    expect(secret.requests.map(({ headers }) => headers["x-etagere-source"])).toContain("1");
    expect(secret.requests.length).toBeGreaterThan(0);
  });
});

const redirecting = {
  to: "",
  server: loopbackServer((_request, response) => {
    response.writeHead(302, { location: redirecting.to }).end();
  }),
};

describe("sources in this server", () => {
  const names = ["127.0.0.1", "localhost", "devstoreaccount1.SERVICE.localhost", "2130706433"];

  it.each(names)("are read as %s, from either service into either service", async (name) => {
    const own = { "x-ms-blob-type": "BlockBlob" };
    await clients.blob.send({ method: "PUT", path: "/ccc/own", headers: own, body: bytes });
    const file = { "x-ms-type": "file", "x-ms-content-length": "512" };
    await clients.file.send({ method: "PUT", path: "/sss/own", headers: file });
    const write = { "x-ms-write": "update", "x-ms-range": "bytes=0-511" };
    const path = "/sss/own?comp=range";
    await clients.file.send({ method: "PUT", path, headers: write, body: bytes });
    for (const from of ["blob", "file"] as const) {
      const { port } = new URL(held.server.urls[from] ?? "");
      const host = name.replace("SERVICE", from);
      const account = host === name ? "/devstoreaccount1" : "";
      const place = `${account}/${from === "blob" ? "ccc" : "sss"}/own`;
      for (const { name: operation, service, call } of copyOperations) {
        const source = `http://${host}:${port}${place}?${accountSas()}`;
        const { status, code } = await clients[service].send(call(source));
        expect([operation, from, status < 300, code]).toEqual([operation, from, true, undefined]);
      }
    }
    const copied = digestOf(bytes);
    const every = Object.fromEntries(copyOperations.map(({ name: each }) => [each, copied]));
    // Put Block does not commit, and each Append Block adds to the previous ones.
    const others = { "Put Block From URL": "404", "Append Block From URL": expect.any(String) };
    await expect.poll(() => contents(clients)).toEqual({ ...every, ...others });
  });
});
