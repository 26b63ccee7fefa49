// `npm start`: installs and builds what is missing, then starts the server. Flags follow `--`.
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, root } from "./prepare.mjs";

ensureInstalled();
ensureBuilt();
const words = [join(root, "bin", "etagere"), ...process.argv.slice(2)];
const server = spawn(process.execPath, words, { stdio: "inherit" });
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
  process.on(signal, () => server.kill(signal));
}
// A signal to npm ends npm and its shell but not this process, which detects a new parent.
const parent = process.ppid;
const watching = setInterval(() => {
  if (process.ppid === parent) return;
  clearInterval(watching);
  server.kill("SIGTERM");
}, 250);
server.on("exit", (code, signal) => {
  if (signal !== null) console.error(`etagere: the server was ended by ${signal}`);
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});
