// One function per client: installs what it needs into `work`, and runs its program there.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { root } from "../../scripts/prepare.mjs";
import { execute, Missing, need } from "./commands.mjs";
import { exampleOf } from "./examples.mjs";
import { identityPrograms, runIdentity } from "./identity-clients.mjs";
import { startServer } from "./server.mjs";

const programs = import.meta.dirname;

export const clients = {
  pyarrow: python("pyarrow"),
  deltalake: python("deltalake", "deltalake and polars"),
  polars: python("polars", "deltalake and polars"),
  obstore: python("obstore", "deltalake and polars"),
  duckdb: python("duckdb", "DuckDB"),
  celery: python("celery"),
  "identity-javascript": (test) => runIdentity(test, identityPrograms.javascript),
  "identity-python": (test) =>
    runIdentity(test, identityPrograms.python, { bin: pythonTools(test) }),
  "identity-go": (test) => runIdentity(test, identityPrograms.go),
  "identity-java": (test) => runIdentity(test, identityPrograms.java),
  // With client credentials, for which the token service is the authority.
  "secret-javascript": (test) =>
    runIdentity(test, identityPrograms.javascript, { words: ["--principal", "app"] }),
  "secret-python": (test) =>
    runIdentity(test, identityPrograms.python, {
      bin: pythonTools(test),
      words: ["--principal", "app"],
    }),
  oidc: runOidc,
  "changefeed-javascript": withFeed(({ work, env }) => {
    const cwd = join(work, "changefeed");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "package.json"), "{}");
    const reader = "@azure/storage-blob-changefeed@12.0.0-preview.4";
    need("npm", ["install", "--ignore-scripts", "--no-save", reader], { cwd });
    execute(process.execPath, [join(programs, "check-changefeed.mjs")], { cwd, env });
  }),
  "changefeed-python": withFeed((test) => {
    const program = join(programs, "check_changefeed.py");
    execute(join(pythonTools(test), "python"), [program], { env: test.env });
  }),
  "changefeed-avro": withFeed((test) => {
    const program = join(programs, "check_avro.py");
    execute(join(pythonTools(test), "python"), [program], { env: test.env });
  }),
  "events-javascript": withFeed(({ work, env }) => {
    const cwd = join(work, "events");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "package.json"), "{}");
    const packages = ["@azure/eventgrid@5.12.0", "cloudevents@10.0.0", "@azure/storage-blob@12"];
    need("npm", ["install", "--ignore-scripts", "--no-save", ...packages], { cwd });
    execute(process.execPath, [join(programs, "check-events.mjs")], { cwd, env });
  }),
  "examples-events": runEventExamples,
  "java-batch": (test) => runJava(test, "Batch"),
  "java-files": (test) => {
    if (!test.isPort80Ours) throw new Missing("port 80 cannot be used");
    runJava(test, "Files");
  },
  datalake: inLake(python("datalake", "Python: Data Lake")),
  "pyarrow-lake": inLake(python("pyarrow_lake", "pyarrow: Data Lake")),
  adlfs: inLake(python("adlfs")),
  hadoop: inLake(runHadoop),
  rust: runRust,
  pgbackrest: runPgBackRest,
};

/** The program imports or reads the example as `example`. */
function python(name, heading = name) {
  return (test) => {
    const folder = join(test.work, name);
    const bin = pythonTools(test);
    mkdirSync(folder);
    const example = exampleOf(heading, test.server);
    writeFileSync(join(folder, "example.py"), `KEY = "${test.key}"\n${example}`);
    writeFileSync(join(folder, "example.sql"), example.replace("=KEY;", `=${test.key};`));
    cpSync(join(programs, `check_${name}.py`), join(folder, `check_${name}.py`));
    execute(join(bin, "python"), [`check_${name}.py`], { cwd: folder });
  };
}

/** The folder of a Python with the packages of all its clients. */
function pythonTools({ work }) {
  const bin = join(work, "venv", "bin");
  const installed = join(work, "venv", "installed");
  if (!existsSync(installed)) {
    need("python3", ["-m", "venv", join(work, "venv")]);
    need(join(bin, "pip"), ["install", "--quiet", "-r", join(programs, "requirements.txt")]);
    writeFileSync(installed, "");
  }
  return bin;
}

/** With an OpenID Connect server that is installed for the test only: it has many dependencies. */
function runOidc({ work }) {
  const cwd = join(work, "oidc");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "package.json"), "{}");
  need("npm", ["install", "--ignore-scripts", "--no-save", "oidc-provider@9.13.3"], { cwd });
  execute(process.execPath, [join(programs, "check-oidc.mjs")], { cwd });
}

/** With a second server, whose development account has a hierarchical namespace. */
function inLake(run) {
  return async (test) => {
    const location = mkdtempSync(join(test.work, "lake-"));
    const flags = ["--filePort", "0", "--enableHierarchicalNamespace"];
    const server = await startServer(location, flags);
    try {
      await run({ ...test, location, server });
    } finally {
      await server.stop();
    }
  };
}

/** With a second server, whose development account has a change feed. */
function withFeed(run) {
  return async (test) => {
    const location = mkdtempSync(join(test.work, "feed-"));
    const config = join(location, "config.json");
    const receiver = await freePort();
    const url = `http://127.0.0.1:${receiver}/`;
    const subscriptions = {
      grid: { destination: { webhook: `${url}grid` } },
      cloud: { destination: { webhook: `${url}cloud`, schema: "CloudEventSchemaV1_0" } },
    };
    const accounts = { devstoreaccount1: { changeFeed: true, subscriptions } };
    writeFileSync(config, JSON.stringify({ accounts }));
    const flags = ["--filePort", "0", "--config", config, "--eventWebhooks", url];
    const server = await startServer(location, flags);
    const CONNECTION_STRING = `DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=${test.key};BlobEndpoint=http://${server.blob}/devstoreaccount1`;
    try {
      const RECEIVER_PORT = String(receiver);
      const env = { ...process.env, CONNECTION_STRING, RECEIVER_PORT };
      await run({ ...test, location, server, env });
    } finally {
      await server.stop();
    }
  };
}

/** A port on which nothing listens now, for a receiver that the client starts. */
async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** The projects below `examples/`, with the packages that they name and this server. */
function runEventExamples(test) {
  const cwd = join(test.work, "events-vitest");
  cpSync(join(root, "examples", "events-vitest"), cwd, { recursive: true });
  need("npm", ["install", "--ignore-scripts", "--no-save", root], { cwd });
  execute("npm", ["test"], { cwd });
  const tested = join(test.work, "events-pytest");
  cpSync(join(root, "examples", "events-pytest"), tested, { recursive: true });
  const bin = pythonTools(test);
  need(join(bin, "pip"), ["install", "--quiet", "-r", "requirements.txt"], { cwd: tested });
  const ETAGERE = `${process.execPath} ${join(root, "bin", "etagere")}`;
  execute(join(bin, "pytest"), ["-q"], { cwd: tested, env: { ...process.env, ETAGERE } });
}

/** The example is a file of settings. */
function runHadoop(test) {
  const cwd = join(test.work, "hadoop");
  need("javac", ["-version"]);
  cpSync(join(programs, "hadoop"), cwd, { recursive: true });
  need("mvn", ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"], { cwd });
  const settings = exampleOf("Hadoop and Spark", test.server).replace(">KEY<", `>${test.key}<`);
  writeFileSync(join(cwd, "core-site.xml"), settings);
  const env = { ...process.env, FILESYSTEM: "hadoop@devstoreaccount1.dfs.core.windows.net" };
  execute("java", ["-cp", ".:lib/*", "Lake.java"], { cwd, env });
}

function runJava(test, program) {
  const cwd = join(test.work, "java");
  const hosts = join(cwd, "hosts");
  if (!existsSync(hosts)) {
    need("javac", ["-version"]);
    cpSync(join(programs, "java"), cwd, { recursive: true });
    need("mvn", ["-q", "-B", "dependency:copy-dependencies", "-DoutputDirectory=lib"], { cwd });
    writeFileSync(hosts, "127.0.0.1 localhost devstoreaccount1.file.localhost\n");
  }
  insertExample(join(cwd, `${program}.java`), exampleOf("Java: files", test.server));
  const { connectionString: CONNECTION_STRING, key: KEY } = test;
  const env = { ...process.env, KEY, CONNECTION_STRING };
  const words = ["-Djdk.net.hosts.file=hosts", "-cp", "lib/*", `${program}.java`];
  execute("java", words, { cwd, env });
}

function runRust(test) {
  need("cargo", ["--version"]);
  const cwd = join(test.work, "rust");
  cpSync(join(programs, "rust"), cwd, { recursive: true });
  insertExample(join(cwd, "main.rs"), exampleOf("object_store", test.server));
  need("cargo", ["fetch", "--quiet"], { cwd });
  execute("cargo", ["run", "--quiet"], { cwd, env: { ...process.env, KEY: test.key } });
}

function insertExample(file, example) {
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace("// EXAMPLE", () => example),
  );
}

/** Needs TLS: a second process serves the same folder with a certificate for `localhost`. */
async function runPgBackRest(test) {
  need("pgbackrest", ["version"]);
  need("sh", ["-c", "ls /usr/lib/postgresql/*/bin/initdb"]);
  const folder = join(test.work, "pgbackrest");
  mkdirSync(folder);
  cpSync(join(programs, "pgbackrest.sh"), join(folder, "run.sh"));
  const cert = join(folder, "cert.pem");
  const key = join(test.work, "key.pem");
  const form = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"];
  const name = ["-addext", "subjectAltName=DNS:localhost"];
  const files = ["-keyout", key, "-out", cert];
  need("openssl", ["req", ...form, ...name, ...files], { stdio: "ignore" });
  const server = await startServer(test.location, [
    "--filePort",
    "0",
    "--cert",
    cert,
    "--key",
    key,
  ]);
  try {
    const example = exampleOf("pgBackRest", server)
      .replace("=KEY\n", `=${test.key}\n`)
      .replace("port=10000\n", `port=${server.blob.split(":")[1]}\n`)
      .replace("/path/cert.pem", cert);
    writeFileSync(join(folder, "example.conf"), example);
    runUnprivileged(["sh", join(folder, "run.sh"), folder], folder);
  } finally {
    await server.stop();
  }
}

/** PostgreSQL refuses to run as root. */
function runUnprivileged([command, ...words], folder) {
  if (process.getuid?.() !== 0) return execute(command, words);
  need("chown", ["-R", "postgres", folder]);
  const whole = [command, ...words].join(" ");
  return execute("su", ["postgres", "-s", "/bin/sh", "-c", whole], { cwd: folder });
}
