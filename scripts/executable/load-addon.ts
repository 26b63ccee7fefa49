import { createRequire } from "node:module";
import { join } from "node:path";
import { extractedFolder } from "./embedded-files.ts";

/** Loads a native module, for example `lmdb.node`. Native modules must be files. */
export function loadAddon(name: string): unknown {
  return createRequire(process.execPath)(join(extractedFolder(), "native", name));
}
