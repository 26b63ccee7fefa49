import { fail, ok, type Result } from "./result.ts";

export const pathUnitsMax = 2048;
export const pathDepthMax = 250;
export const componentUnitsMax = 255;

const forbiddenCharacters = /["\\/:|<>*?\p{Cc}]/u;
/** DOS device names, which SMB clients cannot open as files. */
const deviceNames = /^(?:LPT[1-9]|COM[1-9]|PRN|AUX|NUL|CON|CLOCK\$)$/i;

const tooLong = fail("InvalidFileOrDirectoryPathName");
const tooDeep = fail("InvalidFileOrDirectoryPathName", {
  message: "File or directory path has too many subdirectories.",
});

export interface FilePathOptions {
  /** `x-ms-allow-trailing-dot`; otherwise dots at the end of a component are removed. */
  readonly keepsTrailingDots: boolean;
}

/** The components of a path below a share, as they are stored. */
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
    const component = keepsTrailingDots || isDots(raw) ? raw : raw.replace(/\.+$/, "");
    const checked = checkFileName(component);
    if (!checked.ok) return checked;
    components.push(component);
  }
  return ok(components);
}

export function checkFileName(name: string): Result<undefined> {
  if (name.length > componentUnitsMax) return tooLong;
  if (name === "" || isDots(name)) return fail("InvalidResourceName");
  const unusable = forbiddenCharacters.test(name) || deviceNames.test(name);
  return unusable ? fail("InvalidResourceName") : ok(undefined);
}

function isDots(name: string): boolean {
  return name === "." || name === "..";
}
