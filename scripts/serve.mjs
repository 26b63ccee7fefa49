// Starts a server for a script and reads its addresses from the start-up lines.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const startMillisecondsMax = 30_000;

/**
 * `command` is the program and its arguments; `last` matches the last start-up line. Resolves with
 * the addresses by service, in lower case (`{ blob: "http://…", admin: … }`).
 */
export async function serve({ command: [program, ...words], last }) {
  const server = spawn(program, words, { stdio: ["ignore", "pipe", "inherit"] });
  // The server does not outlive the script.
  const kill = () => server.kill("SIGKILL");
  process.once("exit", kill);
  const gone = new Promise((resolve) => server.once("exit", resolve));
  void gone.then(() => process.off("exit", kill));
  const urls = {};
  /** All lines so far. */
  const printed = [];
  const timer = setTimeout(() => server.kill("SIGKILL"), startMillisecondsMax);
  const lines = createInterface({ input: server.stdout });
  await new Promise((resolve, reject) => {
    lines.on("line", (line) => {
      printed.push(line);
      const found = /(\w+)(?: service| endpoint)? is successfully listening at (\S+)/.exec(line);
      if (found !== null) urls[found[1].toLowerCase()] = found[2];
      if (last.test(line)) resolve();
    });
    server.once("exit", (code) => reject(new Error(`the server ended with code ${code}`)));
  });
  clearTimeout(timer);
  const stop = async () => {
    server.kill("SIGTERM");
    await gone;
  };
  return { urls, pid: server.pid, lines: printed, stop };
}
