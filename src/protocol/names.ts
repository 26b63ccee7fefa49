import { nameLengthOutOfRange } from "./faults.ts";
import { fail, ok, type Result } from "./result.ts";

/** The rules for names of containers, queues, tables, shares and blobs, which the services check
 *  before they load anything. */

// Limits of the service for the names of containers, queues, tables and shares, in UTF-16 code
// units.
const resourceNameUnitsMin = 3;
export const resourceNameUnitsMax = 63;
/** Azure's limit of a blob name, in UTF-16 code units. */
export const blobNameUnitsMax = 1024;
/** Azure's limit of the number of path segments in a blob name. */
const blobSegmentsMax = 254;

/** Limit of this server for a path in a listing. A rename of a directory can make paths below it
 *  longer than a name may be: requests cannot address them, but they are listed. */
export const listedPathUnitsMax = 4096;

/** Whether a text can be a path in a listing, so that a listing can continue with it. */
export function isListedPath(path: string): boolean {
  const isShort = path.length <= listedPathUnitsMax;
  return isShort && path.split("/").every((name) => name.length <= blobNameUnitsMax);
}

const passed = ok(undefined);

/** The form of the names of containers, queues and shares: lower-case letters, digits and single
 *  hyphens between them. */
const resourcePattern = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const tablePattern = /^[A-Za-z][A-Za-z0-9]*$/;

/** The system containers of Azure. Names of other containers must not contain a dollar sign. */
const systemContainers: ReadonlySet<string> = new Set([
  "$root",
  "$logs",
  "$web",
  "$blobchangefeed",
]);

export function checkContainerName(name: string): Result<undefined> {
  return systemContainers.has(name) ? passed : checkResourceName(name);
}

/** Checks the name of a queue or share: 3 to 63 lower-case letters, digits and single hyphens. */
export function checkResourceName(name: string): Result<undefined> {
  return checkName(name, resourcePattern);
}

/** Checks a table name. Names are case-insensitive; `tables` is reserved for their collection. */
export function checkTableName(name: string): Result<undefined> {
  const checked = checkName(name, tablePattern);
  if (!checked.ok) return checked;
  return name.toLowerCase() === "tables" ? fail("InvalidResourceName") : passed;
}

/** Checks the length of a blob name and the number of its segments. Blob names may have any
 *  characters. */
export function checkBlobName(name: string): Result<undefined> {
  if (name.length === 0 || name.length > blobNameUnitsMax) return nameLengthOutOfRange();
  return countSegments(name) > blobSegmentsMax ? fail("InvalidUri") : passed;
}

function countSegments(name: string): number {
  let segments = 1;
  for (let at = name.indexOf("/"); at !== -1; at = name.indexOf("/", at + 1)) segments += 1;
  return segments;
}

function checkName(name: string, pattern: RegExp): Result<undefined> {
  if (name.length < resourceNameUnitsMin || name.length > resourceNameUnitsMax) {
    return nameLengthOutOfRange();
  }
  return pattern.test(name) ? passed : fail("InvalidResourceName");
}

/** The services of a storage account. */
export const serviceNames = ["blob", "queue", "table", "file"] as const;

export type ServiceName = (typeof serviceNames)[number];

/** Decodes percent-encoded text; undefined if it is malformed. */
export function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** The letters that stand for the services in SAS tokens and user delegation keys. */
export const serviceLetters: Readonly<Record<ServiceName, string>> = {
  blob: "b",
  queue: "q",
  table: "t",
  file: "f",
};
