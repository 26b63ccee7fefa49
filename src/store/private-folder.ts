import { chmodSync, mkdirSync, statSync } from "node:fs";
import type { Log } from "../base/world.ts";

const groupAndOthers = 0o077;

/** Creates a folder with mode 700, and changes the mode of a folder that earlier releases created
 *  with access for others. The files in it then need no check of their own. Only for folders that
 *  belong to the store as a whole; the location itself may be any folder of the user and is not
 *  changed. */
export function makePrivateFolder(path: string, log?: Log): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { mode } = statSync(path);
  if (process.platform === "win32" || (mode & groupAndOthers) === 0) return;
  try {
    chmodSync(path, 0o700);
    log?.info({ path }, "data folder closed to other users");
  } catch (error) {
    log?.warn({ err: error, path }, "data folder is open to other users; change its mode to 700");
  }
}
