import { execFileSync, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { ServiceName } from "../../src/protocol/names.ts";
import { endWithUs, removeWithUs } from "./leftovers.ts";
import type { PlainMode } from "./plain-modes.ts";
import type { Address } from "./target.ts";

export interface Server {
  /** Port of the admin listener; undefined if there is none. */
  readonly adminPort?: number | undefined;
  readonly address: Address;
  readonly pid: number;
  stop(): Promise<void>;
}

export interface Certificate {
  readonly certificate: string;
  readonly key: string;
}

export interface ServerOptions {
  readonly name: string;
  /** Script and arguments. */
  readonly program: string;
  readonly words?: readonly string[];
  /** Path of the Node binary; undefined for that of this process. */
  readonly node?: string | undefined;
  /** Options of Node. */
  readonly nodeWords?: readonly string[];
  readonly tls?: Certificate | undefined;
  /** An existing data folder, which is not deleted. */
  readonly location?: string;
  /** URL of the database for records. */
  readonly store?: string;
  /** Number of worker processes; undefined for the default. */
  readonly workers?: number | undefined;
  /** Further options of the server. */
  readonly more?: readonly string[];
  /** Whether the account has directories. */
  readonly hierarchical?: boolean | undefined;
}

const startMillisecondsMax = 60_000;
const stopMillisecondsMax = 60_000;
const listening = /(\w+)(?: service| endpoint)? is successfully listening at \w+:\/\/[^:]+:(\d+)/;

export function startEtagere(options: Omit<ServerOptions, "name" | "words">): Promise<Server> {
  const free = ["blob", "dfs", "queue", "table", "file", "smb", "admin"].map(
    (name) => `--${name}Port=0`,
  );
  const kept = options.store === undefined ? [] : [`--store=${options.store}`];
  const tree = options.hierarchical === true ? ["--enableHierarchicalNamespace"] : [];
  const workers = options.workers === undefined ? [] : [`--workers=${options.workers}`];
  const words = [...free, "--silent", ...kept, ...tree, ...workers, ...(options.more ?? [])];
  return startServer({ ...options, name: "etagere", words }, "admin");
}

export function startAzurite(options: Omit<ServerOptions, "name" | "words">): Promise<Server> {
  const free = ["blob", "queue", "table"].flatMap((name) => [`--${name}Port`, "0"]);
  const words = [...free, "--silent", "--disableTelemetry", "--skipApiVersionCheck"];
  return startServer({ ...options, name: "azurite", words }, "table");
}

/** Resolves after the start-up line of the last listener. */
async function startServer(options: ServerOptions, last: string): Promise<Server> {
  const { name, program, words = [], node = process.execPath, nodeWords = [], tls } = options;
  const location = options.location ?? newFolder(name);
  const secured = tls === undefined ? [] : ["--cert", tls.certificate, "--key", tls.key];
  const all = [...nodeWords, program, ...words, ...secured, "--location", location];
  const child = spawn(node, all, { stdio: ["ignore", "pipe", "inherit"] });
  endWithUs(child);
  const ports: Partial<Record<ServiceName, number>> = {};
  let adminPort: number | undefined;
  await lineOf(child, name, (line) => {
    const found = listening.exec(line);
    const service = found?.[1]?.toLowerCase();
    if (service === "admin") adminPort = Number(found?.[2]);
    else if (service !== undefined) ports[service as ServiceName] = Number(found?.[2]);
    return service === last;
  });
  return {
    address: { name, secure: tls !== undefined, ports },
    adminPort,
    pid: child.pid ?? 0,
    stop: () => stop(child, options.location === undefined ? location : undefined),
  };
}

export async function startPlain(mode: PlainMode, tls: Certificate | undefined): Promise<Server> {
  const folder = newFolder("plain");
  const secured = tls === undefined ? [] : [tls.certificate, tls.key];
  const words = [join(import.meta.dirname, "plain-server.js"), mode, folder, ...secured];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  endWithUs(child);
  let port = 0;
  await lineOf(child, "plain", (line) => {
    port = Number(/listening at (\d+)/.exec(line)?.[1] ?? 0);
    return port > 0;
  });
  return {
    address: { name: "plain", secure: tls !== undefined, ports: { blob: port } },
    pid: child.pid ?? 0,
    stop: () => stop(child, folder),
  };
}

function lineOf(child: ChildProcess, name: string, isLast: (line: string) => boolean) {
  return new Promise<void>((found, failed) => {
    const tooLate = (): void => failed(new Error(`${name} did not start in time`));
    const timer = setTimeout(tooLate, startMillisecondsMax);
    child.once("exit", (code) => failed(new Error(`${name} ended with code ${String(code)}`)));
    if (child.stdout === null) throw new Error("standard output is not piped");
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (!isLast(line)) return;
      clearTimeout(timer);
      found();
    });
  });
}

async function stop(child: ChildProcess, folder: string | undefined): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const ended = new Promise<void>((done) => child.once("exit", () => done()));
    const timer = setTimeout(() => child.kill("SIGKILL"), stopMillisecondsMax);
    child.kill("SIGTERM");
    await ended;
    clearTimeout(timer);
  }
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}

/** In the checkout, because the system's temporary folder may be in memory. */
export function newFolder(name: string): string {
  const base = join(process.cwd(), ".bench");
  mkdirSync(base, { recursive: true });
  const folder = mkdtempSync(join(base, `${name}-`));
  removeWithUs(folder);
  return folder;
}

/** A temporary certificate; undefined if openssl is missing. */
export function makeCertificate(folder: string): Certificate | undefined {
  const certificate = join(folder, "certificate.pem");
  const key = join(folder, "key.pem");
  const subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"];
  const made = ["-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate];
  try {
    execFileSync("openssl", ["req", "-x509", "-days", "2", ...made, ...subject], { stdio: "pipe" });
    return { certificate, key };
  } catch {
    console.warn("without openssl there is no certificate: TLS is left out");
    return undefined;
  }
}
