import { fchmodSync, fstatSync, openSync } from "node:fs";

const groupAndOthers = 0o077;

/** Opens a data file that the library created, and removes the access of other users that it
 *  grants. */
export function openDataFile(path: string): number {
  const descriptor = openSync(path, "r+");
  if ((fstatSync(descriptor).mode & groupAndOthers) === 0) return descriptor;
  try {
    fchmodSync(descriptor, 0o600);
  } catch {
    // The file belongs to another user, so its mode cannot be changed. The mode of the folder
    // protects it; if it does not, the server has logged that.
  }
  return descriptor;
}
