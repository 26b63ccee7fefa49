import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { storageStatus } from "../identity/storage-status.ts";

const secret = "a-secret-of-the-application";
const identity = {
  principals: { app: { objectId: "o1", clientId: "c1", secret }, other: { objectId: "o2" } },
  roleAssignments: [{ principal: "app", role: "Storage Blob Data Contributor" }],
};

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, string>>;
}

function send(url: string, ca: string, form?: Readonly<Record<string, string>>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const method = form === undefined ? "GET" : "POST";
    const headers = form && { "content-type": "application/x-www-form-urlencoded" };
    const sent = request(url, { method, headers, ca, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>;
        resolve({ status: response.statusCode ?? 0, body });
      });
    });
    sent.on("error", reject);
    sent.end(form && new URLSearchParams(form).toString());
  });
}

async function startSecure() {
  const location = temporaryFolder();
  const server = await start({ port: 0, noSmb: true, location, https: true, identity });
  const ca = readFileSync(join(location, "https", "ca.pem"), "utf8");
  return { server, ca };
}

const environment = "/admin/v1/identity/environment";
const headers = { "x-etagere-admin": "1" };

describe("the admin listener on a loopback address", () => {
  it("is an authority over HTTPS, on the port that also serves HTTP", async () => {
    const { server, ca } = await startSecure();
    await using running = server;
    const { adminUrl } = running;
    expect(adminUrl).toMatch(/^http:/);
    const answer = await fetch(`${adminUrl}${environment}?principal=app`, { headers });
    const { variables } = (await answer.json()) as { variables: Record<string, string> };
    const host = variables["AZURE_AUTHORITY_HOST"] ?? "";
    expect(host).toBe(adminUrl.replace("http:", "https:"));
    expect(variables).toMatchObject({ AZURE_CLIENT_ID: "c1", AZURE_CLIENT_SECRET: secret });
    const tenant = `${host}/${variables["AZURE_TENANT_ID"]}`;
    const found = await send(`${tenant}/v2.0/.well-known/openid-configuration`, ca);
    expect(found.body).toMatchObject({
      issuer: `${tenant}/v2.0`,
      token_endpoint: `${tenant}/oauth2/v2.0/token`,
    });
    const instance = await send(`${host}/common/discovery/instance`, ca);
    expect(instance.body["tenant_discovery_endpoint"]).toMatch(tenant);
    const issued = await send(found.body["token_endpoint"] ?? "", ca, {
      grant_type: "client_credentials",
      client_id: "c1",
      client_secret: secret,
      scope: "https://storage.azure.com/.default",
    });
    expect(issued.status).toBe(200);
    const token = issued.body["access_token"] ?? "";
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());
    expect(claims).toMatchObject({ iss: `${tenant}/v2.0`, oid: "o1" });
    expect(await storageStatus(running, { ca, token, method: "PUT" })).toBe(201);
  });

  it("names the reason if a principal has no client credentials", async () => {
    const { server } = await startSecure();
    await using running = server;
    for (const name of ["other", "unknown"]) {
      const answer = await fetch(`${running.adminUrl}${environment}?principal=${name}`, {
        headers,
      });
      expect(answer.status).toBe(404);
    }
    await using plain = await start({ port: 0, noSmb: true, inMemoryPersistence: true, identity });
    const answer = await fetch(`${plain.adminUrl}${environment}?principal=app`, { headers });
    expect(answer.status).toBe(409);
  });

  it("stops while connections have sent nothing or half a handshake", async () => {
    const { server } = await startSecure();
    const { hostname: host, port } = new URL(server.adminUrl);
    const sockets = ["", "\u0016\u0003\u0001"].map((text) => {
      const socket = connect({ host, port: Number(port) }).on("error", () => {});
      if (text !== "") socket.write(text, "latin1");
      return socket;
    });
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    const closed = sockets.map((socket) => once(socket.resume(), "close"));
    await server.stop();
    await Promise.all(closed);
  });
});
