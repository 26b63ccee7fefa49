import { checkFileName, componentUnitsMax, pathDepthMax } from "../../protocol/file-names.ts";
import { parseIso } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import { Status, type NtStatus } from "../status.ts";

export interface ParsedPath {
  readonly components: readonly string[];
  /** Whether the path ends with a backslash, so that it can only name a directory. */
  readonly mustBeDirectory: boolean;
  /** Time of the share snapshot named by an `@GMT-` component, in whole seconds. */
  readonly snapshot: Ticks | undefined;
}

const separator = "\\";
const plainStream = /::\$DATA$/i;
const snapshotToken = /^@GMT-(\d{4})\.(\d\d)\.(\d\d)-(\d\d)\.(\d\d)\.(\d\d)$/;

/** Parses a path relative to a share ([MS-FSCC] 2.1.5). */
export function parsePath(name: string): ParsedPath | NtStatus {
  if (name.startsWith(separator)) return Status.invalidParameter;
  const mustBeDirectory = name.endsWith(separator);
  const bare = (mustBeDirectory ? name.slice(0, -1) : name).replace(plainStream, "");
  if (bare === "") return { components: [], mustBeDirectory, snapshot: undefined };
  const parts = bare.split(separator);
  if (parts.length > pathDepthMax) return Status.objectNameInvalid;
  const components: string[] = [];
  let snapshot: Ticks | undefined;
  for (const part of parts) {
    const time = snapshotTime(part);
    if (time !== undefined) snapshot = time;
    else {
      const invalid = checkComponent(part);
      if (invalid !== undefined) return invalid;
      components.push(part);
    }
  }
  return { components, mustBeDirectory, snapshot };
}

function checkComponent(part: string): NtStatus | undefined {
  if (part === "." || part === "..") return Status.objectPathSyntaxBad;
  if (part.length > componentUnitsMax) return Status.objectNameInvalid;
  return checkFileName(part).ok ? undefined : Status.objectNameInvalid;
}

function snapshotTime(part: string): Ticks | undefined {
  const found = snapshotToken.exec(part);
  if (found === null) return undefined;
  const [, year, month, day, hour, minute, second] = found;
  return parseIso(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
