// Runs commands in the foreground. Throws `Missing` for an unavailable tool or package.
import { spawnSync } from "node:child_process";

export class Missing extends Error {}

export function execute(command, words, options) {
  const { status, signal, error } = spawnSync(command, words, { stdio: "inherit", ...options });
  if (error !== undefined) throw error;
  if (status !== 0)
    throw new Error(`${command} ${words.join(" ")}: ended with ${status ?? signal}`);
}

export function need(command, words, options) {
  try {
    execute(command, words, { stdio: ["ignore", "ignore", "inherit"], ...options });
  } catch (error) {
    throw new Missing(error.message, { cause: error });
  }
}
