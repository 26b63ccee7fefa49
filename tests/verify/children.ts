import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";

const running = new Set<ChildProcess>();

/** A Node.js process that ends with this one. */
export function spawnNode(words: readonly string[], options: SpawnOptions): ChildProcess {
  return spawnWithin([], words, options);
}

/** The same, run by another command, which must become the process. */
export function spawnWithin(
  within: readonly string[],
  words: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const [command = "", ...rest] = [...within, process.execPath, ...words];
  const child = spawn(command, rest, options);
  running.add(child);
  child.once("exit", () => running.delete(child));
  return child;
}

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => process.exit(1));
}
