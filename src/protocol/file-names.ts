import { fail, ok, type Result } from "./result.ts";

/** The rules for paths of the File service, which REST and SMB share.
 *  learn.microsoft.com/rest/api/storageservices/naming-and-referencing-shares--directories--files--and-metadata */

/** Azure's limit of a path, in UTF-16 code units. */
const pathUnitsMax = 2048;
/** Azure's limit of the number of names in a path. */
export const pathDepthMax = 250;
/** Azure's limit of one name, in UTF-16 code units. */
export const componentUnitsMax = 255;

const forbiddenCharacters = /["\\/:|<>*?\p{Cc}]/u;
/** DOS device names. SMB clients cannot open files of these names, so the service rejects them. */
const deviceNames = /^(?:LPT[1-9]|COM[1-9]|PRN|AUX|NUL|CON|CLOCK\$)$/i;

const tooLong = fail("InvalidFileOrDirectoryPathName");
const tooDeep = fail("InvalidFileOrDirectoryPathName", {
  message: "File or directory path has too many subdirectories.",
});

interface FilePathOptions {
  /** `x-ms-allow-trailing-dot`: whether names keep dots at their end. */
  readonly keepsTrailingDots: boolean;
}

/** Splits a path below a share into names as they are stored; or the fault of a name. */
export function parseFilePath(
  path: string,
  { keepsTrailingDots }: FilePathOptions,
): Result<readonly string[]> {
  if (path.length > pathUnitsMax) return tooLong;
  const components: string[] = [];
  for (const raw of path.split("/")) {
    // Repeated and trailing slashes are ignored.
    if (raw === "") continue;
    if (components.length >= pathDepthMax) return tooDeep;
    const component = keepsTrailingDots ? raw : withoutTrailingDots(raw);
    const checked = checkFileName(component);
    if (!checked.ok) return checked;
    components.push(component);
  }
  return ok(components);
}

/** A name as Azure stores it without `x-ms-allow-trailing-dot`: without dots at its end. `.` and
 *  `..` are left for `checkFileName`, which rejects them. */
function withoutTrailingDots(name: string): string {
  return !name.endsWith(".") || isDots(name) ? name : name.replace(/\.+$/, "");
}

/** The path as the service stores it without `x-ms-allow-trailing-dot`: dots at the end of names
 *  are removed. */
export function pathWithoutTrailingDots(path: string): string {
  return path.includes(".") ? path.split("/").map(withoutTrailingDots).join("/") : path;
}

/** Checks one name of a path: its length, its characters and whether Windows reserves it. */
export function checkFileName(name: string): Result<undefined> {
  if (name.length > componentUnitsMax) return tooLong;
  if (name === "" || isDots(name)) return fail("InvalidResourceName");
  const unusable = forbiddenCharacters.test(name) || deviceNames.test(name);
  return unusable ? fail("InvalidResourceName") : ok(undefined);
}

function isDots(name: string): boolean {
  return name === "." || name === "..";
}
