// The settings of the server and of Hadoop's tests in each mode. All use HTTPS: Hadoop sends tokens and
// customer-provided keys over nothing else.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { root } from "../../../scripts/prepare.mjs";
import { developmentAccountKey as key } from "../../../dist/account/settings.js";
import { execute } from "../commands.mjs";

const account = "devstoreaccount1.dfs.core.windows.net";
const hierarchical = "--enableHierarchicalNamespace";
const secret = "a-secret-of-the-application";
const principals = Object.fromEntries(
  ["owner", "contributor", "reader", "guest"].map((name, index) => {
    const id = `${String(index + 1).repeat(8)}-0000-4000-8000-000000000000`;
    return [name, { objectId: id, clientId: id, secret }];
  }),
);
const roleAssignments = ["Owner", "Contributor", "Reader"].map((role) => ({
  principal: role.toLowerCase(),
  role: `Storage Blob Data ${role}`,
}));

export const modes = {
  flat: { isHierarchical: false, isWithTokens: false },
  hierarchical: { isHierarchical: true, isWithTokens: false },
  tokens: { isHierarchical: true, isWithTokens: true },
};

/** The options of the server. */
export function flagsOf({ isHierarchical, isWithTokens }, folder, filesystems) {
  const config = join(folder, "config.json");
  if (isWithTokens) writeFileSync(config, JSON.stringify({ principals, roleAssignments }));
  // Some tests need their filesystem from the start.
  const containers = Object.fromEntries(filesystems.map((name) => [name, {}]));
  const init = join(folder, "init.json");
  writeFileSync(init, JSON.stringify({ containers }));
  return [
    "--filePort",
    "0",
    "--https",
    "--init",
    init,
    ...(isHierarchical ? [hierarchical] : []),
    ...(isWithTokens ? ["--config", config] : []),
  ];
}

/** Hadoop's properties. */
export function settingsOf({ isHierarchical, isWithTokens }, server, location) {
  return {
    "fs.azure.abfs.account.name": account,
    [`fs.azure.account.key.${account}`]: key,
    "fs.azure.abfs.endpoint": server.dfs,
    "fs.azure.test.namespace.enabled": String(isHierarchical),
    ...(isWithTokens ? tokenSettings(location) : {}),
  };
}

/** The filesystem that contract tests use, and empty after each test. */
export function contractSettings(filesystem) {
  return { "fs.contract.test.fs.abfs": `abfs://${filesystem}@${account}` };
}

function tokenSettings(location) {
  const words = ["env", "--location", location, "--shell", "json", "--principal", "owner"];
  const etagere = join(root, "bin", "etagere");
  const output = execFileSync(process.execPath, [etagere, ...words], { encoding: "utf8" });
  const { AZURE_AUTHORITY_HOST: host, AZURE_TENANT_ID: tenant } = JSON.parse(output);
  const { owner, contributor, reader, guest } = principals;
  const oauth = "fs.azure.account.oauth2";
  const endpoint = `${host.replace(/\/$/, "")}/${tenant}/oauth2/v2.0/token`;
  return {
    "fs.azure.account.auth.type": "OAuth",
    "fs.azure.account.oauth.provider.type":
      "org.apache.hadoop.fs.azurebfs.oauth2.ClientCredsTokenProvider",
    [`${oauth}.client.endpoint`]: endpoint,
    [`${oauth}.client.endpoint.${account}`]: endpoint,
    [`${oauth}.client.id`]: owner.clientId,
    [`${oauth}.client.secret`]: secret,
    [`${oauth}.client.service.principal.object.id`]: owner.objectId,
    [`${oauth}.contributor.client.id`]: contributor.clientId,
    [`${oauth}.contributor.client.secret`]: secret,
    [`${oauth}.reader.client.id`]: reader.clientId,
    [`${oauth}.reader.client.secret`]: secret,
    "fs.azure.account.test.oauth2.client.id": guest.clientId,
    "fs.azure.account.test.oauth2.client.secret": secret,
    "fs.azure.check.access.testuser.guid": guest.objectId,
    "fs.azure.test.app.service.principal.tenant.id": tenant,
    "fs.azure.test.app.service.principal.object.id": owner.objectId,
    "fs.azure.test.app.id": owner.clientId,
    "fs.azure.test.app.secret": secret,
  };
}

/**
 * Writes the files that tell Java which authority to trust and where the account is, and returns
 * the options for them. Some tests look up the name of the account; all others are unknown.
 */
export function javaOptions(location, folder) {
  const store = join(folder, "trust.p12");
  const added = ["-importcert", "-noprompt", "-alias", "etagere"];
  const authority = ["-file", join(location, "https", "ca.pem")];
  const words = [...added, ...authority, "-keystore", store, "-storepass", "changeit"];
  execute("keytool", words, { stdio: "ignore" });
  const hosts = join(folder, "hosts");
  writeFileSync(hosts, `127.0.0.1 localhost ${hostname()} ${account}\n`);
  const property = "-Djavax.net.ssl.trustStore";
  return [`${property}=${store}`, `${property}Password=changeit`, `-Djdk.net.hosts.file=${hosts}`];
}
