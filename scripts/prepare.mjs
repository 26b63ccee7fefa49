// Installs dependencies and builds; uses only Node, so that it runs in a fresh clone.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

const pageSources = ["src", "index.html", "vite.config.ts"].map((name) => join(root, "ui", name));

/** Runs a command in the foreground; a failure ends this process with the same code. */
export function run(command, words, options = {}) {
  const { status, error } = spawnSync(command, words, { cwd: root, stdio: "inherit", ...options });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

/** Progress goes to standard error; standard output is for the command's own output. */
function say(text) {
  process.stderr.write(`etagere: ${text}\n`);
}

/** npm writes its own record of what it installed; older than the lock file means out of date. */
export function ensureInstalled() {
  const installed = join(root, "node_modules", ".package-lock.json");
  const lock = join(root, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  say("installing what package-lock.json lists (npm ci) …");
  run("npm", ["ci", "--no-audit", "--no-fund"]);
}

export function ensureBuilt() {
  const configs = [join(root, "tsconfig.json"), join(root, "tsconfig.build.json")];
  if (isOlder(join(root, "dist", "cli", "main.js"), [join(root, "src"), ...configs])) build();
  else if (isOlder(join(root, "dist", "tour.js"), [join(root, "examples", "tour")])) buildTour();
  if (isOlder(join(root, "ui", "dist", "index.html"), pageSources)) buildPage();
}

function isOlder(built, sources) {
  return !existsSync(built) || statSync(built).mtimeMs < Math.max(...sources.map(newestChange));
}

export function build() {
  say("building the server (dist) …");
  // Removes compiled files whose source was deleted.
  rmSync(join(root, "dist"), { recursive: true, force: true });
  run(tool("tsc"), ["-p", "tsconfig.build.json"]);
  say("bundling it (dist/bundle) …");
  runVite(join("scripts", "bundle.config.mjs"));
  buildTour();
  run(process.execPath, [join("scripts", "release", "notices.mjs")]);
  buildPage();
}

/** `etagere tour` with its client libraries. */
function buildTour() {
  say("bundling the tour (dist/tour.js) …");
  runVite(join("scripts", "tour.config.mjs"));
}

/** The explorer: static files that the server serves. */
export function buildPage() {
  say("building the explorer's page (ui/dist) …");
  runVite(join("ui", "vite.config.ts"));
}

function runVite(config) {
  run(tool("vite"), ["build", "--config", config, "--logLevel", "warn"]);
}

/** Scripts in TypeScript are compiled beside the sources they import. */
export function buildScripts() {
  rmSync(join(root, ".build"), { recursive: true, force: true });
  run(tool("tsc"), ["-p", "tsconfig.scripts.json"]);
}

export function tool(name) {
  return join(root, "node_modules", ".bin", name);
}

function newestChange(path) {
  const state = statSync(path);
  if (!state.isDirectory()) return state.mtimeMs;
  const inside = readdirSync(path).map((name) => newestChange(join(path, name)));
  return Math.max(state.mtimeMs, ...inside);
}
