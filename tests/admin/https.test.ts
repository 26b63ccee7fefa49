import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { rmSync } from "node:fs";
import { afterAll, expect, it } from "vitest";
import { makeCertificate } from "../https/certificate.ts";
import { adminHeaders, adminServer } from "./admin-server.ts";

const { folder, cert, key, ca } = makeCertificate();
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const adminToken = "a token that is long enough";

function logIn(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { ...adminHeaders, "Content-Type": "application/json" };
    const sent = request(`${url}/admin/v1/session`, { method: "POST", ca, headers, agent: false });
    sent.on("response", (answer) => {
      answer.resume();
      resolve(answer);
    });
    sent.on("error", reject);
    sent.end(JSON.stringify({ token: adminToken }));
  });
}

it("the admin listener uses TLS and secure cookies on a non-loopback address", async () => {
  await using admin = await adminServer({ cert, key, adminToken, adminHost: "0.0.0.0" });
  expect(admin.url).toMatch(/^https:/);
  const answer = await logIn(admin.url.replace("0.0.0.0", "127.0.0.1"));
  expect(answer.statusCode).toBe(200);
  expect(answer.headers["set-cookie"]?.[0]).toMatch(/; HttpOnly; SameSite=Strict; Secure$/);
});

it("probes on a loopback address need no certificate", async () => {
  await using admin = await adminServer({ cert, key });
  expect((await admin.get("/healthz")).status).toBe(200);
});

it("the metrics say when the certificate expires", async () => {
  await using admin = await adminServer({ cert, key });
  const end = Date.parse(new X509Certificate(readFileSync(cert)).validTo) / 1000;
  const metrics = await (await admin.get("/metrics")).text();
  expect(metrics).toContain(`\netagere_certificate_expiry_timestamp_seconds ${end}\n`);
  await using plain = await adminServer({});
  expect(await (await plain.get("/metrics")).text()).not.toContain("certificate");
});
