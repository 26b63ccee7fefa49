import { lstatSync, mkdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** Thrown if no folder can be used for the files of the executable. */
export class NoCacheFolder extends Error {}

const variable = "ETAGERE_CACHE";
/** Write permission of the group and of others. */
const foreignWriteBits = 0o022;

export interface CacheEnvironment {
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** Undefined if the system has no user ids. */
  readonly uid: number | undefined;
  readonly homeFolder: () => string;
  readonly temporaryFolder: string;
}

export function realCacheEnvironment(): CacheEnvironment {
  return {
    variables: process.env,
    platform: process.platform,
    uid: process.getuid?.(),
    homeFolder: homedir,
    temporaryFolder: tmpdir(),
  };
}

/** Creates the first folder that only this user can write. Throws `NoCacheFolder` if there is
 *  none. */
export function openCacheFolder(environment: CacheEnvironment): string {
  const problems: string[] = [];
  for (const folder of candidates(environment)) {
    const problem = prepare(folder, environment.uid);
    if (problem === undefined) return folder;
    problems.push(`${folder}: ${problem}`);
  }
  throw new NoCacheFolder(
    `no folder for the libraries of this executable; set ${variable} to a folder that only this ` +
      `user can write\n         ${problems.join("\n         ")}`,
  );
}

function candidates({ variables, platform, uid, ...rest }: CacheEnvironment): readonly string[] {
  const chosen = variables[variable];
  if (chosen !== undefined && chosen !== "") return [chosen];
  const cache = variables["XDG_CACHE_HOME"] || variables["LOCALAPPDATA"];
  const home = homeOf(rest.homeFolder);
  const common = platform === "darwin" ? ["Library", "Caches"] : [".cache"];
  return [
    ...(cache ? [join(cache, "etagere")] : []),
    ...(home === "" ? [] : [join(home, ...common, "etagere")]),
    join(rest.temporaryFolder, `etagere-${uid ?? "cache"}`),
  ];
}

/** Empty for a user that the system does not know, as in many containers. */
function homeOf(homeFolder: () => string): string {
  try {
    return homeFolder();
  } catch {
    return "";
  }
}

/** Returns why the folder cannot be used. */
function prepare(folder: string, uid: number | undefined): string | undefined {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const state = lstatSync(folder);
    if (!state.isDirectory()) return "is not a folder";
    if (uid === undefined) return undefined;
    if (state.uid !== uid) return "belongs to another user";
    return (state.mode & foreignWriteBits) === 0 ? undefined : "other users can write it";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
