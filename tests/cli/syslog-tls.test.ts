import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createServer, type TLSSocket } from "node:tls";
import { afterAll, afterEach, beforeEach, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { makeCertificate } from "../https/certificate.ts";
import { command, freePorts } from "../workers/worker-server.ts";
import { startCommand } from "./start-command.ts";

const folder = temporaryFolder();
const certificate = makeCertificate();
afterAll(() => rmSync(certificate.folder, { recursive: true }));

const receiver = createServer({ cert: certificate.ca, key: readFileSync(certificate.key) });
let text = "";
receiver.on("secureConnection", (socket: TLSSocket) => {
  socket.on("data", (bytes: Buffer) => (text += bytes.toString("utf8")));
});
// A client that does not trust the certificate.
receiver.on("tlsClientError", () => {});
beforeEach(async () => {
  text = "";
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
});
afterEach(() => receiver.close());

/** Runs a server with a request that is audited. */
async function audited(name: string, environment: NodeJS.ProcessEnv) {
  const { port } = receiver.address() as AddressInfo;
  const flags = [`--location=${join(folder, name)}`, `--auditSyslog=tls://127.0.0.1:${port}`];
  const server = await startCommand([...command, ...freePorts, "--silent", ...flags], {
    environment,
  });
  await fetch(`${server.urlOf("blob")}/devstoreaccount1/box?restype=container`);
  expect(await server.end()).toBe(0);
  return server.errors();
}

it("sends audit lines over TLS to a receiver whose certificate it trusts", async () => {
  const errors = await audited("trusted", { NODE_EXTRA_CA_CERTS: certificate.cert });
  const [, length = "", message = ""] = /^(\d+) (.*)$/s.exec(text) ?? [];
  expect(Buffer.byteLength(message)).toBe(Number(length));
  expect(message).toMatch(/^<110>1 \S+ \S+ etagere \d+ audit - \{.*"status":404/);
  expect(errors).toBe("");
});

it("sends nothing to a receiver that it does not trust, and says how many lines were lost", async () => {
  const errors = await audited("untrusted", {});
  expect(text).toBe("");
  expect(errors).toContain("self-signed certificate");
  expect(errors).toMatch(/"target":"syslog","lines":1,"message":"audit lines were lost"/);
});
