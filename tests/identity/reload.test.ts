import { rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { developmentAccountName } from "../../src/account/settings.ts";
import { start } from "../../src/index.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { makeCertificate } from "../https/certificate.ts";
import { unsignedToken } from "./unsigned-token.ts";

const { folder: certificates, cert, key, ca } = makeCertificate();
const config = join(temporaryFolder(), "config.json");

afterAll(() => rmSync(certificates, { recursive: true, force: true }));

function configure(role: string | undefined): void {
  const assignment = { principal: "app", role, account: developmentAccountName };
  const roleAssignments = role === undefined ? [] : [assignment];
  const principals = { app: { objectId: "o1" } };
  const accounts = { [developmentAccountName]: {} };
  writeFileSync(config, JSON.stringify({ accounts, principals, roleAssignments }));
}

it("role assignments of the configuration change with a reload", async () => {
  configure("Storage Blob Data Contributor");
  const options = { port: 0, inMemoryPersistence: true, oauth: "basic" } as const;
  await using server = await start({ ...options, cert, key, config });
  const send = (method: string, path: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${unsignedToken("o1")}`,
        "x-ms-version": "2023-11-03",
        "content-length": "0",
      };
      const url = `${server.urls.blob}/${developmentAccountName}${path}`;
      const sent = request(url, { method, headers, ca, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on("error", reject);
      sent.end();
    });
  expect(await send("PUT", "/one?restype=container")).toBe(201);
  configure("Storage Blob Data Reader");
  expect(await send("PUT", "/two?restype=container")).toBe(201);
  await server.reload();
  expect(await send("PUT", "/three?restype=container")).toBe(403);
  expect(await send("GET", "/one?restype=container")).toBe(200);
  configure("no such role");
  await server.reload();
  expect(await send("GET", "/one?restype=container")).toBe(200);
  configure(undefined);
  await server.reload();
  expect(await send("GET", "/one?restype=container")).toBe(403);
});
