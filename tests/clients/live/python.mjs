// The tests of Azure's Python libraries, which their source packages contain. The helpers that they
// import are not published; `python/devtools_testutils` has what live tests need of them.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { join } from "node:path";
import { execute, need } from "../commands.mjs";
import { keyOf } from "./cloud.mjs";

const own = join(import.meta.dirname, "python");
/** The list of known failures belongs to these versions, which `requirements.txt` has as well. */
const libraries = {
  blob: "azure-storage-blob",
  share: "azure-storage-file-share",
  datalake: "azure-storage-file-datalake",
  queue: "azure-storage-queue",
  tables: "azure-data-tables",
};
/** Of one test. Some compute for minutes on a busy machine. */
const secondsMax = 900;

export const pythonSuite = {
  libraries: Object.keys(libraries),

  /** Installs the libraries and unpacks their source packages. */
  prepare({ work, libraries: names }) {
    const pip = join(binOf(work), "pip");
    const requirements = join(import.meta.dirname, "requirements.txt");
    const installed = join(work, "venv", "installed");
    if (!existsSync(installed)) {
      need("python3", ["-m", "venv", join(work, "venv")]);
      need(pip, ["install", "--quiet", "-r", requirements]);
      writeFileSync(installed, "");
    }
    const pinned = readFileSync(requirements, "utf8").split("\n");
    for (const name of names) {
      const folder = join(work, "python", name);
      if (existsSync(folder)) continue;
      mkdirSync(folder, { recursive: true });
      const version = pinned.find((line) => line.startsWith(`${libraries[name]}==`));
      const source = ["--no-deps", "--no-binary", libraries[name], "--dest", folder, version];
      need(pip, ["download", "--quiet", ...source]);
      const [archive] = readdirSync(folder);
      execute("tar", ["--strip-components=1", "--no-same-owner", "-xzf", archive], { cwd: folder });
    }
  },

  async run({ work, library, pattern, env: given }) {
    const { IDENTITY_ENDPOINT, IDENTITY_HEADER, ...others } = given;
    // The tests of tables find the managed identity by themselves.
    const env = library === "tables" ? given : others;
    const cwd = join(work, "python", library, "tests");
    const results = join(work, `results-${library}.jsonl`);
    writeFileSync(results, "");
    // The others need Azure Cosmos DB, which is another service, or measure.
    const left = ["--ignore-glob=*cosmos*", "--ignore-glob=*perfstress*"];
    const modes = ["-o", "asyncio_mode=auto", "-p", "live_plugin", "-p", "no:cacheprovider"];
    const quiet = [
      "--no-summary",
      "--continue-on-collection-errors",
      "--show-capture=no",
      "-W",
      "ignore",
    ];
    const chosen = pattern === "" ? [] : ["-k", pattern];
    const words = ["-m", "pytest", "-q", "--tb=short", ...quiet, ...modes, ...left, ...chosen, "."];
    const more = {
      PYTHONPATH: own,
      LIVE_RESULTS: results,
      LIVE_SECONDS_MAX: String(secondsMax),
      LIVE_IDENTITY_ENDPOINT: IDENTITY_ENDPOINT,
      LIVE_IDENTITY_HEADER: IDENTITY_HEADER,
    };
    // They wait 10 s after each deletion of tables, whose names can be used again at once here.
    if (library === "tables") more.LIVE_SLEEP_MAX = "0";
    const options = { cwd, env: { ...env, ...environment, ...more }, stdio: ["ignore", 2, 2] };
    await once(spawn(join(binOf(work), "python"), words, options), "exit");
    const lines = readFileSync(results, "utf8").trim().split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  },
};

function binOf(work) {
  return join(work, "venv", "bin");
}

const environment = {
  AZURE_TEST_RUN_LIVE: "true",
  AZURE_SKIP_LIVE_RECORDING: "true",
  AZURE_SUBSCRIPTION_ID: "00000000-0000-0000-0000-000000000001",
  STORAGE_RESOURCE_GROUP_NAME: "live",
  ...account("STORAGE_ACCOUNT", "livestandard"),
  ...account("SECONDARY_STORAGE_ACCOUNT", "livesecondary"),
  ...account("BLOB_STORAGE_ACCOUNT", "livestandard"),
  ...account("VERSIONED_STORAGE_ACCOUNT", "liveversioned"),
  ...account("PREMIUM_STORAGE_ACCOUNT", "livepremium"),
  ...account("PREMIUM_STORAGE_FILE_ACCOUNT", "livepremium"),
  ...account("SOFT_DELETE_STORAGE_ACCOUNT", "liveretaining"),
  ...account("DATALAKE_STORAGE_ACCOUNT", "livelake"),
  ...account("STORAGE_DATA_LAKE_SOFT_DELETE_ACCOUNT", "livelakesoftdelete"),
  TABLES_STORAGE_ACCOUNT_NAME: "livestandard",
  TABLES_PRIMARY_STORAGE_ACCOUNT_KEY: keyOf("livestandard"),
};

function account(prefix, name) {
  return { [`${prefix}_NAME`]: name, [`${prefix}_KEY`]: keyOf(name) };
}
