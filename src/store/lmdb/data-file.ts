import { fchmodSync, fstatSync, openSync } from "node:fs";

const others = 0o077;

/** A descriptor of a file that the library has made, with the modes that it gives to all users. */
export function openDataFile(path: string): number {
  const descriptor = openSync(path, "r+");
  if ((fstatSync(descriptor).mode & others) === 0) return descriptor;
  try {
    fchmodSync(descriptor, 0o600);
  } catch {
    // It is another user's; the folder keeps others out, or says that it does not.
  }
  return descriptor;
}
