// The tests of Azure's Go libraries. The modules contain them, and the helpers that they need.
import { execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { execute, need } from "../commands.mjs";
import { keyOf } from "./cloud.mjs";

const modules = "github.com/Azure/azure-sdk-for-go/sdk";
/** The list of known failures belongs to these versions. */
const libraries = {
  azblob: "storage/azblob@v1.8.1",
  azfile: "storage/azfile@v1.7.0",
  azdatalake: "storage/azdatalake@v1.6.0",
  azqueue: "storage/azqueue/v2@v2.1.0",
  aztables: "data/aztables@v1.4.1",
};
/** Of one package. */
const minutesMax = 30;

export const goSuite = {
  libraries: Object.keys(libraries),

  /** Downloads the modules and compiles their tests, for which the network is needed. */
  prepare({ work, libraries: names }) {
    need("go", ["version"], { stdio: "ignore" });
    for (const name of names) {
      const cwd = folderOf(work, name);
      if (!existsSync(cwd)) copyModule(libraries[name], cwd);
      // Compiles the tests and does not run them.
      need("go", ["test", "-mod=mod", "-vet=off", "-exec", "true", "./..."], { cwd });
    }
  },

  run({ work, library, pattern, env }) {
    const limits = ["-p", "1", "-timeout", `${minutesMax}m`, "-count", "1"];
    // A test is at the top or in a suite.
    const chosen = pattern === "" ? [] : ["-run", `(${pattern})|/(${pattern})`];
    // These need Azure Cosmos DB, which is another service.
    const skipped = ["-skip", "[cC]osmos|.*/[cC]osmos"];
    const words = ["test", "-mod=mod", "-vet=off", "-json", ...limits, ...skipped, ...chosen];
    const options = {
      cwd: folderOf(work, library),
      env: { ...env, ...environment, GOPROXY: "off" },
      stdio: ["ignore", "pipe", "inherit"],
    };
    return readResults(spawn("go", [...words, "./..."], options), pattern);
  },
};

function copyModule(module, folder) {
  mkdirSync(folder, { recursive: true });
  const options = { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] };
  const words = ["mod", "download", "-json", `${modules}/${module}`];
  const { Dir } = JSON.parse(execFileSync("go", words, options));
  cpSync(Dir, folder, { recursive: true });
  // The files of the module cache are read-only.
  execute("chmod", ["-R", "u+w", folder]);
}

function folderOf(work, library) {
  return join(work, "go", library);
}

const environment = {
  AZURE_RECORD_MODE: "live",
  // There is no proxy in live mode, but suites start one without this.
  PROXY_MANUAL_START: "true",
  AZURE_TOKEN_CREDENTIALS: "ManagedIdentityCredential",
  ...account("", "livegeneral"),
  ...account("SECONDARY_", "livesecondary"),
  ...account("PREMIUM_", "livepremium"),
  PREMIUM_FILE_STORAGE_ACCOUNT_NAME: "livepremium",
  PREMIUM_FILE_STORAGE_ACCOUNT_KEY: keyOf("livepremium"),
  ...account("SOFT_DELETE_", "livesoftdelete"),
  ...account("DATALAKE_", "livelake"),
  ...account("IMMUTABLE_", "liveimmutable"),
  AZURE_STORAGE_ENCRYPTION_SCOPE: "blobgokeytestscope",
  DATALAKE_AZURE_STORAGE_ENCRYPTION_SCOPE: "datalaketestencryptionscope",
  SUBSCRIPTION_ID: "00000000-0000-0000-0000-000000000001",
  RESOURCE_GROUP_NAME: "live",
  TABLES_STORAGE_ACCOUNT_NAME: "livestandard",
  TABLES_PRIMARY_STORAGE_ACCOUNT_KEY: keyOf("livestandard"),
  TABLES_COSMOS_ACCOUNT_NAME: "livecosmos",
  TABLES_PRIMARY_COSMOS_ACCOUNT_KEY: keyOf("livecosmos"),
};

function account(prefix, name) {
  return {
    [`${prefix}AZURE_STORAGE_ACCOUNT_NAME`]: name,
    [`${prefix}AZURE_STORAGE_ACCOUNT_KEY`]: keyOf(name),
  };
}

/** A suite is a test whose name is a prefix; it is left out unless it failed on its own. */
async function readResults(child, pattern) {
  const outcomes = new Map();
  const outputs = new Map();
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith("{")) continue;
    const { Action, Package = "", Test = "", Output = "", Elapsed = 0 } = JSON.parse(line);
    const name = `${shortPackage(Package)} ${Test}`.trim();
    if (Action === "output") outputs.set(name, `${outputs.get(name) ?? ""}${Output}`);
    else if (Test === "" && Elapsed > 0) console.log(`  ${name}: ${Elapsed} s`);
    if (["run", "pass", "fail", "skip"].includes(Action)) {
      outcomes.set(name, { outcome: Action, seconds: Elapsed });
    }
  }
  const all = [...outcomes.keys()];
  const matches = new RegExp(pattern);
  return all
    .filter((name) => matches.test(name) && !isCovered(name, outcomes, all))
    .map((name) => {
      const { outcome, seconds } = outcomes.get(name);
      const result = { test: name, outcome: outcomeNames[outcome], seconds };
      return outcome === "pass" ? result : { ...result, output: outputs.get(name) ?? "" };
    });
}

/** A test that only started did not end in time, or the package ended by a panic. */
const outcomeNames = { pass: "passed", fail: "failed", skip: "skipped", run: "failed" };

function shortPackage(path) {
  return path.replace(`${modules}/`, "").replace(/^(storage|data)\//, "");
}

/** Whether the results of other tests say the same. */
function isCovered(name, outcomes, all) {
  const isPackage = !name.includes(" ");
  const parts = all.filter((other) => other.startsWith(isPackage ? `${name} ` : `${name}/`));
  if (parts.length === 0) return isPackage && outcomes.get(name).outcome !== "fail";
  const { outcome } = outcomes.get(name);
  return outcome === "pass" || parts.some((part) => outcomes.get(part).outcome !== "pass");
}
