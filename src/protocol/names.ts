import { nameLengthOutOfRange } from "./faults.ts";
import { fail, ok, type Result } from "./result.ts";

export const resourceNameUnitsMin = 3;
export const resourceNameUnitsMax = 63;
export const accountNameUnitsMax = 24;
export const blobNameUnitsMax = 1024;
export const blobSegmentsMax = 254;

const passed = ok(undefined);

/** Lower-case letters, digits and single dashes between them. */
const resourceForm = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const tableForm = /^[A-Za-z][A-Za-z0-9]*$/;
const accountForm = /^[a-z0-9]+$/;

/** System containers; other names must not have a dollar sign. */
const systemContainers: ReadonlySet<string> = new Set([
  "$root",
  "$logs",
  "$web",
  "$blobchangefeed",
]);

export function checkContainerName(name: string): Result<undefined> {
  return systemContainers.has(name) ? passed : checkName(name, resourceForm);
}

export function checkQueueName(name: string): Result<undefined> {
  return checkName(name, resourceForm);
}

export function checkShareName(name: string): Result<undefined> {
  return checkName(name, resourceForm);
}

/** Table names are case-insensitive; `tables` is the collection itself. */
export function checkTableName(name: string): Result<undefined> {
  const checked = checkName(name, tableForm);
  if (!checked.ok) return checked;
  return name.toLowerCase() === "tables" ? fail("InvalidResourceName") : passed;
}

export function isAccountName(name: string): boolean {
  const { length } = name;
  const fits = length >= resourceNameUnitsMin && length <= accountNameUnitsMax;
  return fits && accountForm.test(name);
}

/** Checks only the length: nearly all characters are allowed. */
export function checkBlobName(name: string): Result<undefined> {
  if (name.length === 0 || name.length > blobNameUnitsMax) return nameLengthOutOfRange();
  return countSegments(name) > blobSegmentsMax ? fail("InvalidUri") : passed;
}

function countSegments(name: string): number {
  let segments = 1;
  for (let at = name.indexOf("/"); at !== -1; at = name.indexOf("/", at + 1)) segments += 1;
  return segments;
}

function checkName(name: string, form: RegExp): Result<undefined> {
  if (name.length < resourceNameUnitsMin || name.length > resourceNameUnitsMax) {
    return nameLengthOutOfRange();
  }
  return form.test(name) ? passed : fail("InvalidResourceName");
}
