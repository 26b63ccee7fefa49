import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { startCommand } from "./start-command.ts";

const command = [process.execPath, resolve("bin/etagere")];
const freePorts = ["blob", "queue", "table", "file", "dfs", "smb", "admin"].map(
  (name) => `--${name}Port=0`,
);
const folder = temporaryFolder();

function env(...words: readonly string[]) {
  const [program = "", ...rest] = [...command, "env", ...words];
  return spawnSync(program, rest, { cwd: folder, encoding: "utf8" });
}

it("prints the client credentials of a principal", async () => {
  const principals = {
    importer: { objectId: "o1", clientId: "c1", secret: "at-least-16-characters" },
  };
  const config = join(folder, "config.json");
  const accounts = { main: { keys: [Buffer.alloc(64, 1).toString("base64")] } };
  writeFileSync(config, JSON.stringify({ accounts, principals }));
  const location = join(folder, "principal");
  const flags = ["--https", "--config", config, "--location", location];
  const server = await startCommand([...command, ...freePorts, ...flags], { folder });
  const words = ["--location", location, "--shell", "json", "--principal"];
  const variables = JSON.parse(env(...words, "importer").stdout) as Record<string, string>;
  expect(variables).toMatchObject({
    AZURE_AUTHORITY_HOST: server.urlOf("admin").replace("http:", "https:"),
    AZURE_CLIENT_ID: "c1",
    AZURE_CLIENT_SECRET: "at-least-16-characters",
  });
  expect(variables).not.toHaveProperty("IDENTITY_HEADER");
  const trust = env("--location", location);
  expect(trust.stdout).toContain("NODE_EXTRA_CA_CERTS");
  expect(trust.stdout).not.toContain("IDENTITY_ENDPOINT");
  expect(trust.stderr).toContain("this server has no managed identity");
  expect(trust.status).toBe(0);
  const unknown = env(...words, "exporter");
  expect(unknown.stderr).toContain("no principal of this name has a secret");
  expect(unknown.status).toBe(1);
  expect(await server.end()).toBe(0);
});

it("prints the variables of the server that uses a folder", async () => {
  const server = await startCommand([...command, ...freePorts, "--https"], { folder });
  const shown = env();
  expect(shown.stderr).toBe("");
  const endpoint = `${server.urlOf("admin")}/identity/token`;
  expect(shown.stdout).toContain(`export IDENTITY_ENDPOINT='${endpoint}'\n`);
  expect(shown.status).toBe(0);
  const variables = JSON.parse(env("--shell", "json").stdout) as Record<string, string>;
  expect(variables).toMatchObject({
    IDENTITY_ENDPOINT: endpoint,
    NODE_EXTRA_CA_CERTS: join(folder, ".etagere", "https", "ca.pem"),
  });
  expect(env("--shell", "fish").stderr).toContain(
    '--shell must be sh, powershell or json, not "fish"',
  );
  expect(await server.end()).toBe(0);
  const none = env("--location", join(folder, ".etagere"));
  expect(none.stderr).toContain("no server uses");
  expect(none.status).toBe(1);
});
