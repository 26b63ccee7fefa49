import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import pg from "pg";

/** A database for one test file, in a temporary folder. */
export interface Database {
  /** The URL without a schema. */
  readonly url: string;
  /** A new, empty schema. */
  newUrl(): string;
  query(text: string): Promise<pg.QueryResult>;
  /** Kills the server without a clean shutdown. */
  crash(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

const user = "postgres";
const withParent = ["--pdeathsig", "QUIT"];
const programs = "/usr/lib/postgresql";
const startPollsMax = 300;
const pollMilliseconds = 50;
/** Without fsync: what the operating system has received survives the kills of these tests. */
const settings = ["fsync=off", "max_connections=600", "listen_addresses=127.0.0.1"];

export async function openDatabase(): Promise<Database> {
  const folder = newFolder();
  const data = join(folder, "data");
  initialise(data);
  const instance = new Instance({ data, port: await freePort(), settings: [] });
  let schemas = 0;
  await instance.start();
  return {
    url: instance.url,
    newUrl: () => `${instance.url}?schema=test_${(schemas += 1)}`,
    query: (text) => queryOnce(instance.url, text),
    crash: () => instance.end("SIGKILL"),
    start: () => instance.start(),
    async stop() {
      await instance.end("SIGQUIT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface InstanceOptions {
  readonly data: string;
  readonly port: number;
  readonly settings: readonly string[];
}

/** One running database server. */
export class Instance {
  readonly data: string;
  readonly port: number;
  readonly url: string;
  readonly #settings: readonly string[];
  #server: ChildProcess | undefined;

  constructor({ data, port, settings: more }: InstanceOptions) {
    this.data = data;
    this.port = port;
    this.url = `postgres://${user}@127.0.0.1:${port}/postgres`;
    this.#settings = [...settings, ...more];
  }

  async start(): Promise<void> {
    const words = ["-D", this.data, "-p", String(this.port), "-k", dirname(this.data)];
    const settled = this.#settings.flatMap((setting) => ["-c", setting]);
    const [command = "", ...rest] = asUser("postgres", [...words, ...settled]);
    this.#server = spawn(command, rest, { stdio: "ignore" });
    await untilItAnswers(this.url);
    // The port was free a moment ago; the database of another test may have taken it.
    const { rows } = await queryOnce(this.url, "SHOW data_directory");
    const [row] = rows as { data_directory: string }[];
    if (row?.data_directory !== this.data) throw new Error(`port ${this.port} is taken`);
  }

  async end(signal: "SIGQUIT" | "SIGKILL"): Promise<void> {
    if (this.#server === undefined) return;
    const exited = once(this.#server, "exit");
    const pid = this.#server.pid ?? 0;
    const children = childrenOf(pid);
    process.kill(pid, signal);
    if (signal === "SIGKILL") for (const child of children) killQuietly(child);
    await exited;
    this.#server = undefined;
  }
}

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "etagere-postgres-"));
  chmodSync(folder, 0o755);
  if (process.getuid?.() === 0) spawnSync("chown", [user, folder]);
  return folder;
}

export function initialise(data: string): void {
  runAsUser("initdb", ["-D", data, "-A", "trust", "-U", user, "--no-sync"]);
}

/**
 * PostgreSQL does not run as root. It ends with the process that started it, so that a failed or
 * killed test leaves nothing behind.
 */
function asUser(program: string, words: readonly string[]): readonly string[] {
  const version = readdirSync(programs).toSorted((a, b) => Number(b) - Number(a))[0] ?? "";
  const path = join(programs, version, "bin", program);
  return process.getuid?.() === 0
    ? ["setpriv", ...withParent, "--reuid", user, "--regid", user, "--clear-groups", path, ...words]
    : ["setpriv", ...withParent, path, ...words];
}

export function runAsUser(program: string, words: readonly string[]): void {
  const [command = "", ...rest] = asUser(program, words);
  const { status, stderr } = spawnSync(command, rest, { encoding: "utf8", cwd: tmpdir() });
  if (status !== 0) throw new Error(`${program} failed: ${stderr}`);
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function untilItAnswers(url: string): Promise<void> {
  for (let polls = 0; ; polls += 1) {
    try {
      await queryOnce(url, "SELECT 1");
      return;
    } catch (error) {
      if (polls >= startPollsMax) throw error;
      await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
    }
  }
}

export async function queryOnce(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync("/proc")
    .filter(
      (name) => /^\d+$/.test(name) && statSync(join("/proc", name), { throwIfNoEntry: false }),
    )
    .map(Number)
    .filter((each) => parentOf(each) === pid);
}

function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return 0;
  }
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
