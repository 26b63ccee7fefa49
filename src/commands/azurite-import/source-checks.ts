import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { ticksFromUnixMilliseconds, ticksPerSecond, type Ticks } from "../../base/ticks.ts";
import { ImportRefused } from "../../host/refused.ts";
import { namesIn } from "../../process/folder-listing.ts";
import { databaseName, isDatabaseName, isExtentId } from "./azurite-folder.ts";

/** Finds signs that a data folder of Azurite is incomplete, or that Azurite still uses it: Azurite
 *  locks no file, so that nothing else shows it. */

/** Size and time of the last change of each database, by path. */
type DatabaseVersions = ReadonlyMap<string, string>;

export function databaseVersions(folder: string): DatabaseVersions {
  const paths = databasesIn(folder);
  return new Map(
    paths.map((path) => {
      const { size = 0, mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
      return [path, `${size} ${mtimeMs}`];
    }),
  );
}

/** Throws if a database was written since `before`. The import has then read the documents of one
 *  moment and the contents of another. */
export function refuseChanged(folder: string, before: DatabaseVersions): void {
  const now = databaseVersions(folder);
  const changed = [...now].filter(([path, version]) => before.get(path) !== version);
  if (changed.length === 0) return;
  const problems = changed.map(([path]) => `${path} changed during the import`);
  throw new ImportRefused([...problems, "stop Azurite, and import again"]);
}

/** Azurite saves a changed database every 5 s, and when it stops. */
const recentTicks = 10n * ticksPerSecond;

/** Warnings about a folder that can be imported nevertheless. */
export function sourceWarnings(folder: string, now: Ticks): readonly string[] {
  return [...recentChanges(folder, now), ...missingDatabases(folder)];
}

function recentChanges(folder: string, now: Ticks): readonly string[] {
  const isRecent = databasesIn(folder).some((path) => {
    const { mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    return now - ticksFromUnixMilliseconds(mtimeMs) < recentTicks;
  });
  if (!isRecent) return [];
  const seconds = recentTicks / ticksPerSecond;
  return [
    `${folder} changed in the ${seconds} s before the import: if Azurite still ran, its latest ` +
      "data is missing; stop it, and import into a new folder",
  ];
}

/** A missing database is no error: Azurite keeps the records of blobs in a SQL database if it is
 *  started so, and those of queues and tables in files. */
function missingDatabases(folder: string): readonly string[] {
  return (["blob", "queue"] as const).flatMap((service) => {
    const contents = `__${service}storage__`;
    const path = join(folder, contents);
    const isIncomplete =
      !existsSync(join(folder, databaseName(service))) &&
      statSync(path, { throwIfNoEntry: false })?.isDirectory() === true &&
      namesIn(path).some(isExtentId);
    if (!isIncomplete) return [];
    return [`${contents} has contents, but ${databaseName(service)} is missing: not imported`];
  });
}

function databasesIn(folder: string): readonly string[] {
  return namesIn(folder)
    .filter(isDatabaseName)
    .map((name) => join(folder, name));
}
