import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { start } from "../../src/server/start.ts";
import { StartRefused } from "../../src/host/refused.ts";

const folder = temporaryFolder();
const cert = join(folder, "cert.pem");
const key = join(folder, "key.pem");
const pfx = join(folder, "cert.pfx");
const base = { port: 0, inMemoryPersistence: true } as const;

beforeAll(() => {
  const openssl = (...words: readonly string[]): Buffer =>
    execFileSync("openssl", words, { stdio: "pipe" });
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert];
  openssl("req", "-x509", "-days", "2", ...made, ...subject);
  openssl("pkcs12", "-export", "-in", cert, "-inkey", key, "-out", pfx, "-passout", "pass:open");
});

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { ca: readFileSync(cert), agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end();
  });
}

describe("HTTPS", () => {
  it.each([
    ["pem", { cert, key }],
    ["pfx", { cert: pfx, pwd: "open" }],
  ])("is served with a %s certificate", async (_form, certificate) => {
    await using server = await start({ ...base, ...certificate });
    const url = server.urls.blob ?? "";
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:/);
    expect(server.connectionString).toMatch(/^DefaultEndpointsProtocol=https;/);
    expect(await statusOf(`${url}/devstoreaccount1?comp=list`)).toBeGreaterThanOrEqual(400);
  });

  it("does not start with the wrong password", async () => {
    const refused: unknown = await start({ ...base, cert: pfx, pwd: "shut" }).catch((e) => e);
    expect(refused).toBeInstanceOf(StartRefused);
    expect(String(refused)).toContain("cert.pfx cannot be used");
  });
});
