import { resolve } from "node:path";
import type { ServerArchives } from "../server/archive/server-archives.ts";
import { ArchiveRefused } from "../server/archive/archive-refused.ts";
import { defaultLocation } from "../server/flags.ts";
import { resolveOptions } from "../server/options.ts";
import { readSecrets } from "../server/secret-options.ts";
import { messageOf, StartRefused } from "../server/start-refused.ts";
import { realEnvironment } from "../server/server-environment.ts";
import { environmentVariable } from "../server/world.ts";
import { NoServer } from "./admin-client.ts";
import { adminTokenOf } from "./admin-token.ts";
import { findServer, type ServerAddress } from "./find-server.ts";
import { quietLog } from "./quiet-log.ts";

/** Options of `export` and `load` that choose the server or the store. */
export const archiveOptions = {
  url: { type: "string" },
  location: { type: "string", short: "l" },
  tokenFile: { type: "string" },
  store: { type: "string" },
  storeFile: { type: "string" },
  content: { type: "string" },
  json: { type: "boolean" },
} as const;

/** Their lines in the help. */
export const archiveHelp: readonly string[] = [
  "  -l, --location FOLDER   the server that uses this data folder, or the folder (.etagere)",
  "      --url URL           address of the admin listener, for example http://127.0.0.1:10010",
  "      --tokenFile FILE    file with the admin token, or the variable ETAGERE_ADMIN_TOKEN; not",
  "                          needed if the data folder is readable",
  "      --store URL         without a server: records in postgres://…; --storeFile FILE: a file",
  "                          that contains it",
  "      --content URL       without a server: contents in s3://…",
  "      --json              print JSON",
];

/** Options that name the stores themselves. */
const directOptions = ["store", "storeFile", "content"] as const;

type Texts = ReadonlyMap<string, string>;

/** Why the options contradict each other; undefined if they do not. */
export function findContradiction(texts: Texts): string | undefined {
  const isDirect = directOptions.some((name) => texts.has(name));
  if (texts.has("url") && texts.has("location")) return "--url contradicts --location";
  return texts.has("url") && isDirect ? "--url contradicts --store and --content" : undefined;
}

export interface ArchiveAccess<T> {
  readonly onServer: (server: ServerAddress) => Promise<T>;
  readonly onStore: (archives: ServerArchives) => Promise<T>;
  /** Whether a data folder is created if it does not exist. */
  readonly mayCreate: boolean;
}

/** Uses the server of the location if one responds, else the stores themselves: several processes
 *  may use them, so a server that starts meanwhile does no harm. */
export async function accessArchives<T>(texts: Texts, access: ArchiveAccess<T>): Promise<T> {
  const [url, location] = [texts.get("url"), texts.get("location")];
  const isDirect = directOptions.some((name) => texts.has(name));
  if (isDirect) return onStores(texts, access);
  const found = url === undefined ? await findServer(location) : { url };
  const given = await adminTokenOf({ tokenFile: texts.get("tokenFile") });
  if (found === undefined) return onStores(texts, access);
  try {
    const token = given ?? ("token" in found ? found.token : undefined);
    return await access.onServer({ ...found, token });
  } catch (error) {
    if (!(error instanceof NoServer) || url !== undefined) throw error;
    return onStores(texts, access);
  }
}

/** Loads the modules of the stores only if no server responds. */
async function onStores<T>(texts: Texts, { onStore, mayCreate }: ArchiveAccess<T>): Promise<T> {
  const spell = (name: string): string => `--${name}`;
  const names = ["location", ...directOptions];
  const given = Object.fromEntries(
    names.flatMap((name) => (texts.has(name) ? [[name, texts.get(name) ?? ""]] : [])),
  );
  const read = await readSecrets(given, { spell, variable: environmentVariable });
  const checked = read.ok ? resolveOptions(read.value, spell) : read;
  if (!checked.ok) throw new ArchiveRefused(checked.problems);
  const { store: storeUrl, content: contentUrl } = checked.value;
  const location = resolve(checked.value.location ?? defaultLocation);
  const { isMissing } = await import("../server/data-copy/data-locations.ts");
  if (!mayCreate && isMissing({ records: storeUrl ?? location, bytes: undefined })) {
    throw new ArchiveRefused([`${location}: not a data folder, and no server uses it`]);
  }
  const { openDataStores } = await import("../server/data-stores.ts");
  const { services } = await import("../server/services.ts");
  const { folderArchives } = await import("../server/archive/server-archives.ts");
  const world = realEnvironment(quietLog);
  const places = { location, storeUrl, contentUrl, memoryBytesMax: undefined };
  // The timers of the storage clients do not keep the process running; without this one it would
  // end while it waits.
  const staying = setInterval(() => {}, 60_000);
  try {
    const engines = await openDataStores({ ...places, services, ...world });
    try {
      return await onStore(folderArchives(engines, world));
    } finally {
      await engines.close();
    }
  } finally {
    clearInterval(staying);
  }
}

/** Prints why a command failed; returns its exit code. */
export function printFailure(error: unknown, consequence: string): number {
  const isExpected = error instanceof ArchiveRefused || error instanceof StartRefused;
  const problems = isExpected ? error.problems : [messageOf(error)];
  for (const problem of problems) process.stderr.write(`etagere: ${problem}\n`);
  process.stderr.write(`etagere: ${consequence}\n`);
  return 1;
}

export function figures(records: number, contentBytes: number): string {
  const size = (contentBytes / 1024 / 1024).toFixed(1);
  return `${records.toLocaleString("en")} records, ${size} MiB of contents`;
}
