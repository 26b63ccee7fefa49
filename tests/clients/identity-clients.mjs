// Azure's clients with `DefaultAzureCredential` and without an account key, each over HTTPS with a
// server of its own.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/prepare.mjs";
import { execute, need } from "./commands.mjs";
import { startServer } from "./server.mjs";

const programs = import.meta.dirname;
const secret = "a-secret-of-the-application";
const attemptsMax = 500;

/** Each prepares a client in `cwd` and returns the command that runs it. */
export const identityPrograms = {
  javascript: () => [process.execPath, join(programs, "check-identity.mjs")],
  python: (_, bin) => [join(bin, "python"), join(programs, "check_identity.py")],
  go: (cwd) => {
    cpSync(join(programs, "go-identity"), cwd, { recursive: true });
    need("go", ["build", "-o", "program", "."], { cwd });
    return [join(cwd, "program")];
  },
  java: (cwd, _, authority) => {
    cpSync(join(programs, "java-identity"), cwd, { recursive: true });
    need("javac", ["-version"]);
    need("mvn", ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"], { cwd });
    need("javac", ["-cp", "lib/*", "Identity.java"], { cwd });
    const password = "-Djavax.net.ssl.trustStorePassword=changeit";
    const store = ["-keystore", "trust.p12", "-storepass", "changeit"];
    const added = ["-importcert", "-noprompt", "-alias", "etagere", "-file", authority];
    need("keytool", [...added, ...store], { cwd });
    return ["java", "-Djavax.net.ssl.trustStore=trust.p12", password, "-cp", ".:lib/*", "Identity"];
  },
};

/**
 * The program `writes` as a contributor: a put, a lease, an entity transaction, and a put with a SAS
 * of a user delegation key. Then its principal becomes a reader, and the program checks that all of
 * that is `refused`. `principal` names the arguments of `etagere env`.
 */
export async function runIdentity(test, prepare, { bin, words = [] } = {}) {
  const cwd = mkdtempSync(join(test.work, "identity-"));
  const location = join(cwd, "data");
  const config = join(cwd, "config.json");
  assign(config, "Contributor");
  const flags = ["--filePort", "0", "--https", "--config", config];
  const server = await startServer(location, flags);
  try {
    const variables = environmentOf(location, words);
    const program = join(cwd, "program-folder");
    mkdirSync(program);
    const command = prepare(program, bin, variables.SSL_CERT_FILE);
    const urls = { BLOB_URL: `https://${server.blob}`, TABLE_URL: `https://${server.table}` };
    const options = { cwd: program, env: { ...process.env, ...variables, ...urls } };
    run(command, "writes", options);
    assign(config, "Reader");
    process.kill(server.pid, "SIGHUP");
    await reloaded(server);
    run(command, "refused", options);
  } finally {
    await server.stop();
  }
}

function run([command, ...words], act, options) {
  execute(command, [...words, act], options);
}

function environmentOf(location, words) {
  const etagere = join(root, "bin", "etagere");
  const all = [etagere, "env", "--location", location, "--shell", "json", ...words];
  return JSON.parse(execFileSync(process.execPath, all, { encoding: "utf8" }));
}

/** Writes the configuration that gives the principal these roles. */
function assign(config, kind) {
  const roles = ["Blob", "Table"].map((service) => `Storage ${service} Data ${kind}`);
  const settings = {
    principals: { app: { objectId: "o1", clientId: "c1", secret } },
    roleAssignments: roles.map((role) => ({ principal: "app", role })),
    managedIdentity: { principal: "app", secret },
  };
  writeFileSync(config, JSON.stringify(settings));
}

/** Resolves when the server has read its configuration again: a new link is printed then. */
async function reloaded({ lines }) {
  const before = lines.length;
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    if (lines.slice(before).some((line) => line.startsWith("Etagere explorer:"))) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error("the server did not read its configuration again");
}
