import { execFile, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import pg from "pg";
import { freePort } from "../harness/free-port.ts";

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
/** A minute: a database that crashed replays its log first, and the machine may be busy. */
const startPollsMax = 1200;
const pollMilliseconds = 50;
const killPollMilliseconds = 2;
const killPollsMax = 10_000;
/** Without fsync: what the operating system has received survives the kills of these tests. */
const settings = ["fsync=off", "max_connections=600", "listen_addresses=127.0.0.1"];

export async function openDatabase(): Promise<Database> {
  const folder = newFolder();
  const data = join(folder, "data");
  await copyTemplate(data);
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
  /** The machine on which it runs, if it is not this one. */
  readonly machine?: DatabaseMachine;
}

export interface DatabaseMachine {
  readonly host: string;
  /** The words before a command that runs there; it must become the process. */
  readonly within: readonly string[];
}

/** One running database server. */
export class Instance {
  readonly data: string;
  readonly port: number;
  readonly url: string;
  readonly #settings: readonly string[];
  readonly #within: readonly string[];
  #server: ChildProcess | undefined;

  constructor({ data, port, settings: more, machine }: InstanceOptions) {
    this.data = data;
    this.port = port;
    this.url = `postgres://${user}@${machine?.host ?? "127.0.0.1"}:${port}/postgres`;
    this.#settings = [...settings, ...more];
    this.#within = machine?.within ?? [];
  }

  async start(): Promise<void> {
    const words = ["-D", this.data, "-p", String(this.port), "-k", dirname(this.data)];
    const settled = this.#settings.flatMap((setting) => ["-c", setting]);
    const [command = "", ...rest] = [
      ...this.#within,
      ...asUser("postgres", [...words, ...settled]),
    ];
    const server = spawn(command, rest, { stdio: "ignore" });
    this.#server = server;
    await untilItAnswers(this.url, server);
    // The port was free a moment ago; the database of another test may have taken it.
    const { rows } = await queryOnce(this.url, "SHOW data_directory");
    const [row] = rows as { data_directory: string }[];
    if (row?.data_directory !== this.data) throw new Error(`port ${this.port} is taken`);
  }

  /** Whether the server was started and has ended, by itself or otherwise. */
  get hasEnded(): boolean {
    return this.#server !== undefined && isEnded(this.#server);
  }

  /** Stops all its processes, or continues them. */
  pause(signal: "SIGSTOP" | "SIGCONT"): void {
    const pid = this.#server?.pid ?? 0;
    for (const each of [pid, ...childrenOf(pid)]) signalQuietly(each, signal);
  }

  async end(signal: "SIGQUIT" | "SIGKILL"): Promise<void> {
    if (this.#server === undefined || this.hasEnded) return;
    const exited = once(this.#server, "exit");
    const pid = this.#server.pid ?? 0;
    if (signal === "SIGKILL") await killChildrenOf(pid);
    process.kill(pid, signal);
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

/** Names a folder for what initdb writes; the test run removes it at its end. */
export const templatesVariable = "ETAGERE_TEST_DATABASES";
let template: Promise<string> | undefined;

/** initdb runs once in a process of a test run: copying its files takes a tenth of the time. */
async function copyTemplate(data: string): Promise<void> {
  const templates = process.env[templatesVariable];
  if (templates === undefined) return initialise(data);
  template ??= newTemplate(join(templates, String(process.pid)));
  await promisify(execFile)("cp", ["--archive", await template, data]);
}

async function newTemplate(data: string): Promise<string> {
  await initialise(data);
  return data;
}

export function initialise(data: string): Promise<void> {
  return runAsUser("initdb", ["-D", data, "-A", "trust", "-U", user, "--no-sync"]);
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

/** Asynchronous, because stores and servers of the test run in this process meanwhile. */
export async function runAsUser(
  program: string,
  words: readonly string[],
  within: readonly string[] = [],
): Promise<void> {
  const [command = "", ...rest] = [...within, ...asUser(program, words)];
  await promisify(execFile)(command, rest, { cwd: tmpdir() });
}

async function untilItAnswers(url: string, server: ChildProcess): Promise<void> {
  for (let polls = 0; ; polls += 1) {
    try {
      await queryOnce(url, "SELECT 1");
      return;
    } catch (error) {
      if (polls >= startPollsMax || isEnded(server)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pollMilliseconds));
    }
  }
}

function isEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
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

/**
 * Kills all processes of a database but the first, which is stopped so that it starts no others.
 * The next start fails while one of them still uses the shared memory.
 */
async function killChildrenOf(pid: number): Promise<void> {
  process.kill(pid, "SIGSTOP");
  await until(() => isStopped(pid));
  const children = childrenOf(pid);
  for (const child of children) signalQuietly(child, "SIGKILL");
  await until(() => !children.some(isRunning));
}

async function until(isReached: () => boolean): Promise<void> {
  for (let polls = 0; !isReached(); polls += 1) {
    if (polls >= killPollsMax) throw new Error("the processes of a database do not end");
    await new Promise((resolve) => setTimeout(resolve, killPollMilliseconds));
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
  return Number(statOf(pid)[1]);
}

function isStopped(pid: number): boolean {
  return statOf(pid)[0] === "T";
}

/** A process that has ended and waits for its parent uses no memory any more. */
function isRunning(pid: number): boolean {
  const [state] = statOf(pid);
  return state !== undefined && state !== "Z" && state !== "X";
}

/** State, parent and further fields of a process; empty if it has ended. */
function statOf(pid: number): readonly string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

function signalQuietly(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}
