import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BlobServiceClient } from "@azure/storage-blob";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { silentLog } from "../../tests/harness/silent-log.ts";
import { realEnvironment } from "../host/world.ts";
import { resolveOptions, type StartOptions } from "./options.ts";
import { start, startWith } from "./start.ts";
import { StartRefused } from "../host/refused.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "etagere-start-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function problemsOf(starting: Promise<unknown>): Promise<readonly string[]> {
  const outcome: unknown = await starting.catch((error: unknown) => error);
  if (outcome instanceof StartRefused) return outcome.problems;
  throw new Error("the server started", { cause: outcome });
}

describe("a server in this process", () => {
  it("returns its addresses, and stops at the end of its block", async () => {
    let url = "";
    {
      await using server = await start({ port: 0, inMemoryPersistence: true });
      url = server.urls.blob ?? "";
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect(server.connectionString).toContain(`BlobEndpoint=${url}/devstoreaccount1;`);
      expect(server.connectionString).toContain("AccountName=devstoreaccount1;AccountKey=Eby8");
      await fetch(`${url}/devstoreaccount1`);
    }
    await expect(fetch(url)).rejects.toThrow();
  });

  it("stops once, however often stop is called", async () => {
    const server = await start({ port: 0, inMemoryPersistence: true });
    await Promise.all([server.stop(), server.stop()]);
    await server.stop();
  });

  it("reports a port in use, and leaves nothing listening", async () => {
    const occupant = createServer();
    await new Promise<void>((listening) => occupant.listen(0, "127.0.0.1", listening));
    const { port } = occupant.address() as AddressInfo;
    const starting = start({ port: 0, adminPort: port, inMemoryPersistence: true });
    expect(await problemsOf(starting)).toEqual([
      `Admin listener: port ${port} of 127.0.0.1 is in use (EADDRINUSE); ` +
        "choose another, or 0 for a free one",
    ]);
    await new Promise((closed) => occupant.close(closed));
  });

  it.each([null, "data", 1])("reports options that are no object: %j", async (input) => {
    const problem = `options: must be an object, not ${JSON.stringify(input)}`;
    expect(await problemsOf(start(input as never))).toEqual([problem]);
  });

  it("reports an unusable location", async () => {
    const file = join(folder, "a-file");
    await writeFile(file, "");
    expect(await problemsOf(start({ port: 0, location: file }))).toEqual([
      `location: ${file} cannot be used: it is not a folder`,
    ]);
  });

  it("reports wrong options, accounts and certificates", async () => {
    expect(await problemsOf(start({ port: 0, blobPort: -1 }))).toHaveLength(1);
    expect(await problemsOf(start({ port: 0, accounts: { other: {} } }))).toEqual([
      'account "other": "keys" is missing: one or two keys in base64',
    ]);
    const pem = join(folder, "not-a-certificate.pem");
    await writeFile(pem, "no certificate");
    const [problem] = await problemsOf(start({ port: 0, cert: pem, key: pem }));
    expect(problem).toMatch(/^cert: .* cannot be used: /);
    const [missing] = await problemsOf(start({ port: 0, cert: join(folder, "none"), key: pem }));
    expect(missing).toMatch(/^cert: cannot be read: ENOENT/);
  });

  it("is one process: worker processes are rejected", async () => {
    const options = { port: 0, workers: 2 } as StartOptions;
    expect(await problemsOf(start(options))).toEqual(["workers: only the command has workers"]);
  });

  it("reports a wrong host", async () => {
    const starting = start({ port: 0, blobHost: "192.0.2.1", inMemoryPersistence: true });
    expect(await problemsOf(starting)).toEqual([
      "Blob service: 192.0.2.1 is not an address of this machine",
    ]);
  });
});

describe("account settings", () => {
  it("are reloaded, and unchanged if the file is wrong", async () => {
    const config = join(folder, "accounts.json");
    const write = (text: string): Promise<void> => writeFile(config, text);
    await write('{ "accounts": { "first": { "keys": ["a2V5"] } } }');
    await using server = await start({ port: 0, inMemoryPersistence: true, config });
    expect(server.connectionString).toContain("AccountName=first;AccountKey=a2V5;");
    await write('{ "accounts": { "first": { "keys": ["bmV3"] } } }');
    await server.reload();
    expect(server.connectionString).toContain("AccountName=first;AccountKey=bmV3;");
    await write("{ broken");
    await server.reload();
    expect(server.connectionString).toContain("AccountName=first;AccountKey=bmV3;");
  });

  it.each([
    ["{ broken", /accounts\.json: is not valid JSON: error at line 1, column 3$/],
    ["[]", /accounts\.json: must be an object/],
    ['{ "account": {} }', /accounts\.json: no setting "account"/],
    ['{ "accounts": { "a": {} } }', /accounts\.json: account "a": "keys" is missing/],
  ])("with the text %s do not start a server", async (text, message) => {
    const config = join(folder, "wrong-accounts.json");
    await writeFile(config, text);
    const problems = await problemsOf(start({ port: 0, inMemoryPersistence: true, config }));
    expect(problems.join("\n")).toMatch(message);
  });
});

it("a weak setup is logged once, by the main worker", async () => {
  const config = join(folder, "weak.json");
  await writeFile(config, '{ "accounts": { "weak": { "keys": ["KEY1"] } } }', { mode: 0o600 });
  const options = resolveOptions({ port: 0, inMemoryPersistence: true, noSmb: true, config });
  if (!options.ok) throw new Error(options.problems.join());
  const warn = vi.fn();
  const environment = { ...realEnvironment({ ...silentLog, warn }), announce: () => {} };
  await (await startWith(options.value, environment)).stop();
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    { accounts: ["weak"], advice: expect.stringContaining("openssl rand") as string },
    "account keys with fewer than 32 bytes can be guessed",
  );
});

describe("the admin listener", () => {
  it("serves health, readiness and metrics", async () => {
    await using server = await start({ port: 0, inMemoryPersistence: true });
    const headers = { "x-etagere-admin": "1" };
    const get = (path: string): Promise<Response> =>
      fetch(`${server.adminUrl}${path}`, { headers });
    expect((await get("/healthz")).status).toBe(200);
    expect((await get("/readyz")).status).toBe(200);
    const metrics = await get("/metrics");
    expect(metrics.headers.get("content-type")).toContain("version=0.0.4");
    expect(await metrics.text()).toMatch(/^process_resident_memory_bytes [1-9]\d+$/m);
    const connection = BlobServiceClient.fromConnectionString(server.connectionString);
    const container = connection.getContainerClient("box");
    await container.create();
    await container.getBlockBlobClient("blob").upload("x".repeat(8192), 8192);
    await container.getBlockBlobClient("blob").downloadToBuffer();
    const figures = await (await get("/metrics")).text();
    expect(figures).toMatch(/^etagere_requests_total\{.*operation="Put Blob",status="201"\} 1$/m);
    expect(figures).toContain('etagere_content_bytes_total{direction="received"} 8192\n');
    expect(figures).toContain('etagere_content_bytes_total{direction="sent"} 8192\n');
    expect((await get("/constructor")).status).toBe(404);
    expect((await get("/admin/v1/reset")).status).toBe(405);
    expect((await fetch(`${server.adminUrl}/healthz`, { method: "HEAD" })).status).toBe(200);
  });

  it("is not ready when its data folder was deleted, although reads still work", async () => {
    const location = join(folder, "deleted");
    await using server = await start({ port: 0, location });
    const get = (path: string): Promise<Response> => fetch(`${server.adminUrl}${path}`);
    expect((await get("/readyz")).status).toBe(200);
    expect(await (await get("/metrics")).text()).toMatch(/^etagere_processes 1$/m);
    await rm(location, { recursive: true });
    const ready = await get("/readyz");
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain("was deleted or replaced");
    expect(await (await get("/metrics")).text()).not.toMatch(/^etagere_processes/m);
  });

  it("resets only if enabled, and never for a web page", async () => {
    const post = (url: string, headers = {}): Promise<Response> =>
      fetch(`${url}/admin/v1/reset`, {
        method: "POST",
        headers: { "x-etagere-admin": "1", ...headers },
      });
    await using closed = await start({ port: 0, inMemoryPersistence: true });
    expect((await post(closed.adminUrl)).status).toBe(403);
    await using open = await start({ port: 0, inMemoryPersistence: true, enableReset: true });
    expect((await post(open.adminUrl, { origin: "http://example.com" })).status).toBe(403);
    const bare = await fetch(`${open.adminUrl}/admin/v1/reset`, { method: "POST" });
    expect(await bare.json()).toMatchObject({ error: { code: "HeaderRequired" } });
    expect((await post(open.adminUrl)).status).toBe(204);
  });
});
