import { readFileSync } from "node:fs";

/** Reads the version from package.json, two folders above `dist/server`. */
export function readVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { version = "" } = JSON.parse(text) as { version?: string };
  return version;
}
