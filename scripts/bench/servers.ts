import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { Target } from "./target.ts";

export interface Server {
  readonly target: Target;
  stop(): Promise<void>;
}

const azuriteVersion = "3.35.0";
const blobLine = /Blob service is successfully listening at (\S+)/;

/** The folder that builds and benchmarks run in is the checkout's own. */
const root = resolve(import.meta.dirname, "..", "..", "..");

export function startEtagere(): Promise<Server> {
  const free = ["blob", "queue", "table", "file", "smb", "admin"].map((name) => `--${name}Port=0`);
  return startServer("etagere", [join(root, "bin", "etagere"), ...free, "--silent"]);
}

/** Not a dependency: it is fetched for the comparison, once, and kept out of the package. */
export function startAzurite(): Promise<Server> {
  const home = join(root, ".bench");
  const program = join(home, "node_modules", "azurite", "dist", "src", "azurite.js");
  if (!existsSync(program)) {
    mkdirSync(home, { recursive: true });
    const words = ["install", "--no-audit", "--no-fund", "--no-save", "--prefix", home];
    execFileSync("npm", [...words, `azurite@${azuriteVersion}`], { stdio: "inherit" });
  }
  const free = ["--blobPort=0", "--queuePort=0", "--tablePort=0"].flatMap((word) =>
    word.split("="),
  );
  return startServer("azurite", [program, ...free, "--silent", "--disableTelemetry"]);
}

async function startServer(name: string, words: readonly string[]): Promise<Server> {
  const location = mkdtempSync(join(tmpdir(), `bench-${name}-`));
  const child = spawn(process.execPath, [...words, "--location", location], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  const url = await new Promise<string>((found, failed) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const match = blobLine.exec(line);
      if (match?.[1] !== undefined) found(match[1]);
    });
    child.once("exit", (code) => failed(new Error(`${name} ended with code ${String(code)}`)));
  });
  return {
    target: new Target(name, url, child.pid ?? 0),
    async stop() {
      child.kill("SIGTERM");
      await ended;
      rmSync(location, { recursive: true, force: true });
    },
  };
}
