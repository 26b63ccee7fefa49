// The server in the place of the cloud: the accounts that the tests of Azure's libraries expect,
// the host names of the service on loopback addresses, and a certificate for them.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  AccountSASPermissions,
  generateAccountSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { root } from "../../../scripts/prepare.mjs";
import { serve } from "../../../scripts/serve.mjs";

/** Every service has an address of its own, so that all of them can have port 443. */
const addresses = {
  blob: "127.0.1.1",
  queue: "127.0.1.2",
  table: "127.0.1.3",
  file: "127.0.1.4",
  dfs: "127.0.1.5",
};
const suffix = "core.windows.net";

const softDelete = { containerSoftDeleteDays: 1, shareSoftDeleteDays: 1 };

/** Settings by account. An account that no test may find there is not in the list. */
const accounts = {
  livestandard: { shareSoftDeleteDays: 1 },
  // The standard account of the Go tests.
  livegeneral: { versioning: true, shareSoftDeleteDays: 1 },
  livesecondary: {},
  livepremium: {},
  livesoftdelete: { versioning: true, ...softDelete },
  // As the Python tests expect it.
  liveretaining: softDelete,
  liveversioned: { versioning: true },
  liveimmutable: { versioning: true },
  livelake: { hierarchicalNamespace: true },
  livelakesoftdelete: { hierarchicalNamespace: true, ...softDelete },
};

/** Accounts that keep deleted blobs from the start. */
const retaining = ["livesoftdelete", "liveretaining", "livelake", "livelakesoftdelete"];

/** The key of an account: any 64 bytes. */
export function keyOf(account) {
  return createHash("sha512").update(`key of ${account}`).digest("base64");
}

const principal = "tests";
const secret = "a-secret-of-the-managed-identity";
/** Azure's object and tenant ids are GUIDs, and tests read them from the token. */
const objectId = "6d6e1a52-0f7b-4a36-9c1e-2f6f0f1f7a11";

function configuration() {
  const withKeys = Object.entries(accounts).map(([name, settings]) => [
    name,
    { keys: [keyOf(name)], ...settings },
  ]);
  return {
    accounts: Object.fromEntries(withKeys),
    principals: { [principal]: { objectId, clientId: objectId } },
    roles: { Everything: { actions: ["*"], dataActions: ["*"] } },
    roleAssignments: [{ principal, role: "Everything" }],
    managedIdentity: { principal, secret },
  };
}

/** The text of a hosts file with the names of all accounts. */
export function hostsFile() {
  const names = Object.keys(accounts).flatMap((name) => [name, `${name}-secondary`]);
  const lines = Object.entries(addresses).flatMap(([service, address]) =>
    names.map((name) => `${address} ${name}.${service}.${suffix}`),
  );
  return ["127.0.0.1 localhost", ...lines, ""].join("\n");
}

/** Writes the certificates and settings of the server into a folder. */
export async function writeCloud(folder) {
  const { newAuthority, newServerCertificate } =
    await import("../../../dist/server/https/certificate-folder.js");
  const { realClock, realRandom } = await import("../../../dist/host/world.js");
  const maker = { clock: realClock(), random: realRandom() };
  const authority = await newAuthority(maker);
  const wildcards = Object.keys(addresses).map((service) => ({ dns: `*.${service}.${suffix}` }));
  const names = [{ dns: "localhost" }, { ip: "127.0.0.1" }, ...wildcards];
  const { key, cert } = await newServerCertificate(maker, authority, names);
  writeFileSync(join(folder, "ca.pem"), authority.cert);
  writeFileSync(join(folder, "cert.pem"), cert);
  writeFileSync(join(folder, "key.pem"), key);
  writeFileSync(join(folder, "config.json"), JSON.stringify(configuration()));
  writeFileSync(join(folder, "hosts"), hostsFile());
}

/** Starts the server with an empty data folder. `env` of the result are the variables that clients
 *  need to trust it and to get tokens. */
export async function startCloud(folder, location) {
  const listeners = Object.entries(addresses).flatMap(([service, address]) => [
    `--${service}Host`,
    address,
    `--${service}Port`,
    "443",
  ]);
  const files = ["--config", "config.json", "--cert", "cert.pem", "--key", "key.pem"];
  const paths = files.map((word) => (word.startsWith("--") ? word : join(folder, word)));
  const etagere = join(root, "bin", "etagere");
  const others = [
    "--location",
    location,
    "--adminPort",
    "0",
    "--silent",
    "--noSmb",
    "--strictApiVersion",
  ];
  const command = [process.execPath, etagere, ...others, ...listeners, ...paths];
  const last = /Etagere admin is successfully listening/;
  const server = await serve({ command, last });
  for (const account of retaining) await retainBlobs(account);
  const words = [etagere, "env", "--location", location, "--shell", "json"];
  const identity = JSON.parse(execFileSync(process.execPath, words, { encoding: "utf8" }));
  const authority = join(folder, "ca.pem");
  const env = { ...identity, SSL_CERT_FILE: authority, REQUESTS_CA_BUNDLE: authority };
  return { env, stop: server.stop };
}

/** Soft delete, with permission to delete what is kept, which is not a parameter of the JavaScript
 *  library. This process must trust the certificate (`NODE_EXTRA_CA_CERTS`). */
async function retainBlobs(account) {
  const credential = new StorageSharedKeyCredential(account, keyOf(account));
  const sas = generateAccountSASQueryParameters(
    {
      services: "b",
      resourceTypes: "s",
      permissions: AccountSASPermissions.parse("w"),
      expiresOn: new Date(Date.now() + 3_600_000),
    },
    credential,
  ).toString();
  const policy = "<Enabled>true</Enabled><Days>1</Days>";
  const permanent = "<AllowPermanentDelete>true</AllowPermanentDelete>";
  const kept = `<DeleteRetentionPolicy>${policy}${permanent}</DeleteRetentionPolicy>`;
  const url = `https://${account}.blob.${suffix}/?restype=service&comp=properties&${sas}`;
  const body = `<StorageServiceProperties>${kept}</StorageServiceProperties>`;
  const headers = { "x-ms-version": "2024-11-04" };
  const { status } = await fetch(url, { method: "PUT", body, headers });
  if (status !== 202) throw new Error(`soft delete of ${account}: status ${status}`);
}
