// Starts a temporary PostgreSQL server for a script and removes it at the end.
import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const programs = "/usr/lib/postgresql";
const user = "postgres";

/** Parses `--store`: `postgres` starts a temporary server, anything else is a URL. */
export async function openStore(words) {
  const at = words.findIndex((word) => word === "--store" || word.startsWith("--store="));
  if (at < 0) return { words, store: undefined, stop: () => undefined };
  const isSplit = words[at] === "--store";
  const wanted = isSplit ? words[at + 1] : words[at].slice("--store=".length);
  const rest = words.toSpliced(at, isSplit ? 2 : 1);
  if (wanted !== "postgres") return { words: rest, store: wanted, stop: () => undefined };
  const { url, stop } = await openDatabase();
  return { words: rest, store: url, stop };
}

/** `fsync` is off by default: tests kill processes, never the machine. */
export async function openDatabase(settings = ["fsync=off"], base = tmpdir()) {
  if (!existsSync(programs)) throw new Error("PostgreSQL is not installed (apt: postgresql)");
  mkdirSync(base, { recursive: true });
  const folder = mkdtempSync(join(base, "etagere-database-"));
  chmodSync(folder, 0o755);
  if (isRoot()) spawnSync("chown", [user, folder]);
  const [data, port] = [join(folder, "data"), await freePort()];
  runProgram("initdb", ["-D", data, "-A", "trust", "-U", user, "--no-sync"]);
  const all = ["listen_addresses=127.0.0.1", "max_connections=400", ...settings];
  const options = [`-p ${port}`, `-k ${folder}`, ...all.map((setting) => `-c ${setting}`)].join(
    " ",
  );
  const log = join(folder, "log");
  runProgram("pg_ctl", ["-D", data, "-l", log, "-o", options, "-w", "start"]);
  let isOpen = true;
  const stop = () => {
    if (!isOpen) return;
    isOpen = false;
    runProgram("pg_ctl", ["-D", data, "-m", "immediate", "-w", "stop"]);
    rmSync(folder, { recursive: true, force: true });
  };
  process.once("exit", stop);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(1));
  return { url: `postgres://${user}@127.0.0.1:${port}/postgres`, folder, stop };
}

/** PostgreSQL refuses to run as root. */
function runProgram(program, words) {
  const [newest] = readdirSync(programs).toSorted((a, b) => Number(b) - Number(a));
  const path = join(programs, newest, "bin", program);
  const [command, ...rest] = isRoot() ? ["runuser", "-u", user, "--", path] : [path];
  // An inherited pipe would stay open as long as the server runs.
  const options = { cwd: tmpdir(), stdio: "ignore" };
  const { status } = spawnSync(command, [...rest, ...words], options);
  if (status !== 0) throw new Error(`${program} failed with ${status}`);
}

function isRoot() {
  return process.getuid?.() === 0;
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
