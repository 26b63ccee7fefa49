import { X509Certificate } from "node:crypto";
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { localCertificate } from "../../src/server/https/certificate-folder.ts";
import { simWorld } from "../harness/sim-world.ts";
import { StartRefused } from "../../src/host/refused.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { storageStatus } from "../identity/storage-status.ts";

const dayMilliseconds = 24 * 3_600_000;

function statusOf(url: string, ca: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ca, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end();
  });
}

describe("--https", () => {
  it("serves a certificate of an authority in the data folder, which etagere env names", async () => {
    const location = temporaryFolder();
    await using server = await start({ port: 0, location, https: true });
    const file = join(location, "https", "ca.pem");
    const ca = readFileSync(file, "utf8");
    const { port } = new URL(server.urls.blob ?? "");
    for (const host of ["127.0.0.1", "localhost"]) {
      expect(await statusOf(`https://${host}:${port}/devstoreaccount1?comp=list`, ca)).toBe(404);
    }
    const headers = { "x-etagere-admin": "1" };
    const url = `${server.adminUrl}/admin/v1/identity/environment`;
    const answer: unknown = await (await fetch(url, { headers })).json();
    const { variables } = answer as { variables: Record<string, string> };
    const trust = { NODE_EXTRA_CA_CERTS: file, REQUESTS_CA_BUNDLE: file, SSL_CERT_FILE: file };
    expect(variables).toMatchObject(trust);
    const token = await fetch(
      `${variables["IDENTITY_ENDPOINT"]}?resource=https%3A%2F%2Fstorage.azure.com`,
      { headers: { "x-identity-header": variables["IDENTITY_HEADER"] ?? "" } },
    );
    const { access_token: given } = (await token.json()) as { access_token: string };
    expect(await storageStatus(server, { ca, token: given, method: "PUT" })).toBe(201);
  });

  it("keeps all keys for the user of the data folder alone", async () => {
    const location = temporaryFolder();
    await localCertificate({ ...simWorld(1), location });
    const folder = join(location, "https");
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(readdirSync(folder).toSorted()).toEqual(["ca-key.pem", "ca.pem", "server.pem"]);
    for (const name of readdirSync(folder)) {
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    }
  });

  it("is for the names of this machine and of its services", async () => {
    const { cert } = await localCertificate({ ...simWorld(1), location: temporaryFolder() });
    const made = new X509Certificate(cert);
    const endpoints = ["blob", "dfs", "web"].map((name) => `main.${name}.localhost`);
    const names = ["localhost", hostname(), ...endpoints];
    for (const name of names) expect(made.checkHost(name)).toBeDefined();
    for (const address of ["127.0.0.1", "::1"]) expect(made.checkIP(address)).toBeDefined();
    expect(made.checkHost("example.com")).toBeUndefined();
    expect(made.ca).toBe(false);
  });

  it("renews the certificate before it expires, and keeps the authority", async () => {
    const world = { ...simWorld(1), location: temporaryFolder() };
    const authority = () => readFileSync(join(world.location, "https", "ca.pem"), "utf8");
    const first = await localCertificate(world);
    const before = authority();
    world.clock.advance(300 * dayMilliseconds);
    expect((await localCertificate(world)).cert).toEqual(first.cert);
    world.clock.advance(50 * dayMilliseconds);
    const second = await localCertificate(world);
    expect(second.cert).not.toEqual(first.cert);
    expect(authority()).toBe(before);
    const issued = new X509Certificate(second.cert);
    expect(issued.verify(new X509Certificate(before).publicKey)).toBe(true);
  });

  it("renews the authority years before it expires, with the same key", async () => {
    const world = { ...simWorld(1), location: temporaryFolder() };
    const authority = () =>
      new X509Certificate(readFileSync(join(world.location, "https", "ca.pem"), "utf8"));
    await localCertificate(world);
    const before = authority();
    world.clock.advance(7 * 365 * dayMilliseconds - 90 * dayMilliseconds);
    await localCertificate(world);
    expect(authority().serialNumber).toBe(before.serialNumber);
    world.clock.advance(120 * dayMilliseconds);
    const { cert } = await localCertificate(world);
    const after = authority();
    expect(after.serialNumber).not.toBe(before.serialNumber);
    expect(after.subject).toBe(before.subject);
    expect(after.ca).toBe(true);
    const years = (Date.parse(after.validTo) - Date.parse(before.validTo)) / dayMilliseconds / 365;
    expect(years).toBeGreaterThan(6);
    // Clients that trust the old certificate accept the server still, those with the new one, too.
    const served = new X509Certificate(cert);
    for (const trusted of [before, after]) {
      expect(served.checkIssued(trusted)).toBe(true);
      expect(served.verify(trusted.publicKey)).toBe(true);
    }
    const { mode } = statSync(join(world.location, "https", "ca.pem"));
    expect(mode & 0o777).toBe(0o600);
    expect((await localCertificate(world)).cert).toEqual(cert);
    expect(authority().serialNumber).toBe(after.serialNumber);
  });

  it("replaces a damaged server certificate", async () => {
    const world = { ...simWorld(1), location: temporaryFolder() };
    const path = join(world.location, "https", "server.pem");
    const { cert } = await localCertificate(world);
    for (const damaged of ["not PEM", cert.toString("latin1").slice(0, -500)]) {
      writeFileSync(path, damaged);
      const made = new X509Certificate((await localCertificate(world)).cert);
      expect(made.checkHost("localhost")).toBe("localhost");
    }
  });

  it.each([
    ["damaged", (folder: string) => writeFileSync(join(folder, "ca.pem"), "not PEM")],
    ["without its key", (folder: string) => rmSync(join(folder, "ca-key.pem"))],
  ])("does not replace an authority that is %s, which clients trust", async (_title, damage) => {
    const world = { ...simWorld(1), location: temporaryFolder() };
    await localCertificate(world);
    damage(join(world.location, "https"));
    const error: unknown = await localCertificate(world).catch((refused: unknown) => refused);
    expect(error).toBeInstanceOf(StartRefused);
    expect(String(error)).toContain("delete the folder to create another authority");
  });

  it("of processes that start together is the same", async () => {
    const location = temporaryFolder();
    const all = await Promise.all(
      [1, 2, 3].map((n) => localCertificate({ ...simWorld(n), location })),
    );
    const ca = new X509Certificate(readFileSync(join(location, "https", "ca.pem")));
    for (const { cert } of all) expect(new X509Certificate(cert).verify(ca.publicKey)).toBe(true);
  });

  it("needs a data folder and no other certificate", async () => {
    const both = start({ port: 0, https: true, inMemoryPersistence: true, cert: "a", key: "b" });
    const error: unknown = await both.catch((refused: unknown) => refused);
    expect(error).toBeInstanceOf(StartRefused);
    expect(String(error)).toContain("https: contradicts cert");
    expect(String(error)).toContain("https: contradicts inMemoryPersistence");
  });
});
