import { readFileSync } from "node:fs";
import { join } from "node:path";
import { packageFolder } from "./package-folder.ts";

/** The version of this program, from `package.json`. */
export function readVersion(): string {
  const text = readFileSync(join(packageFolder(), "package.json"), "utf8");
  const { version = "" } = JSON.parse(text) as { version?: string };
  return version;
}
