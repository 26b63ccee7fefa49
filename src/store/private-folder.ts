import { chmodSync, mkdirSync, statSync } from "node:fs";
import type { Log } from "../base/world.ts";

const others = 0o077;

/**
 * Makes a folder that only this user can enter, and closes one that earlier releases left open to
 * others: so the files in it need no second look. Only for folders that belong to the store as a
 * whole; the location itself may be any folder of the user's, and is left as it is.
 */
export function makePrivateFolder(path: string, log?: Log): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const { mode } = statSync(path);
  if (process.platform === "win32" || (mode & others) === 0) return;
  try {
    chmodSync(path, 0o700);
    log?.info({ path }, "data folder closed to other users");
  } catch (error) {
    log?.warn({ err: error, path }, "data folder is open to other users; change its mode to 700");
  }
}
