import {
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  renameSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";

import { namesIn } from "../../process/folder-listing.ts";
import type { Clock, Log } from "../../base/world.ts";
import { isNoSpaceError, syncFolder } from "../folders.ts";
import { identifyProcess, isAlive, processNamespace, type ProcessIdentity } from "../processes.ts";

/** Who has a data folder open. LMDB can be shared by the processes of one machine that see each
 *  other, but not over a network file system or between containers: a second process there would
 *  damage the data. `open-lmdb-store.ts` and `etagere check` claim a folder before they open it. */

/** Version of the data format of a folder. Increased when older releases can no longer read the
 *  data; they then refuse to open it. */
export const formatVersion = 2;

/** The data folder was written by a newer release, in a format that this one cannot read. */
export class StoreTooNew extends Error {
  override readonly name = "StoreTooNew";
}

/** A file of the data folder is not as the server has left it: truncated by an interrupted copy,
 *  for example. It must be restored. */
export class StoreDamaged extends Error {
  override readonly name = "StoreDamaged";
}

/** Another machine or container, or a release with another format, has the folder open. */
export class StoreInUse extends Error {
  override readonly name = "StoreInUse";
  /** The marker file of the other process, if that may have ended: `awaitLocation` watches whether
   *  it is still touched. Undefined if the process is known to run. */
  readonly markerPath: string | undefined;

  constructor(message: string, markerPath?: string) {
    super(message);
    this.markerPath = markerPath;
  }
}

interface LocationOptions {
  readonly location: string;
  readonly clock: Clock;
  readonly format?: number;
  readonly host?: string;
  readonly namespace?: string;
}

interface Location {
  /** Whether no other process had the location open at the claim: the caller then may repair what a
   *  killed process left. */
  readonly isExclusive: boolean;
  release(): void;
}

interface LocationUser extends ProcessIdentity {
  readonly bootId: string;
  readonly host: string;
  /** PID namespace (container) in which the process id is valid. */
  readonly namespace: string;
  readonly format: number;
}

/** A marker file that was not touched for 30 s, six times as long as the interval, belongs to a
 *  process that has ended. */
const silenceSecondsMax = 30;
/** How often a process touches its marker file. */
const heartbeatMilliseconds = 5_000;
const namesMax = 10_000;

/** Claims a data folder. Every process that has it open keeps a marker file in `open/` and
 *  touches it every 5 s. For processes of the same boot and PID namespace the process list shows
 *  whether they run. The marker of another machine or container counts as long as it is touched;
 *  its age is measured against this process's own marker, so that only the clock of the file
 *  system matters. */
export function claimLocation(options: LocationOptions): Location {
  const { location, clock, format = formatVersion, host = hostIdentity() } = options;
  const { namespace = processNamespace() } = options;
  const folder = join(location, "open");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  checkFormat(location, format);
  const { bootId } = clock;
  const self = { ...identifyProcess(process.pid), bootId, host, namespace, format };
  const name = createOwnFile(folder, self);
  const path = join(folder, name);
  try {
    const isExclusive = checkOthers(folder, name, self);
    const stop = keepTouching(path, self, clock);
    return {
      isExclusive,
      release() {
        stop();
        rmSync(path, { force: true });
      },
    };
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
}

const formatFile = "format";

/** Throws if a data folder is in a format that this release cannot read. */
export function checkFormat(location: string, format = formatVersion): void {
  const found = readFormat(location);
  if (found === undefined || found <= format) return;
  throw new StoreTooNew(
    `${location} was written in format ${found} by a newer release; ` +
      `this release supports up to ${format}`,
  );
}

/** Makes releases with an earlier format, which may be unable to read what this one writes, refuse
 *  the folder from now on. Must precede the first write. Only for a process that has claimed the
 *  folder: no process with another format has it open then. */
export function writeFormat(location: string, format = formatVersion): void {
  if (readFormat(location) === format) return;
  // A process of a later release may have written to the folder since `checkFormat`.
  checkFormat(location, format);
  // Several processes may do this at once, with the same content.
  const path = join(location, formatFile);
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${format}\n`, { flush: true, mode: 0o600 });
  renameSync(draft, path);
  syncFolder(location);
}

/** Undefined for a new folder, and after a loss of power before the first write, which leaves the
 *  file missing, or empty on a disk that does not flush. */
function readFormat(location: string): number | undefined {
  const path = join(location, formatFile);
  if (!existsSync(path)) return undefined;
  const text = readFileSync(path, "utf8");
  if (text === "") return undefined;
  if (/^[1-9][0-9]{0,5}\n?$/.test(text)) return Number(text);
  throw new StoreDamaged(`${path} must contain the number of a format; restore it from a backup`);
}

/** Creates the marker file of this process. Until it is complete, others use only its date. */
function createOwnFile(folder: string, self: LocationUser): string {
  for (let count = 0; count < namesMax; count += 1) {
    const name = `${self.pid}-${self.startTime}-${count}.json`;
    try {
      writeFileSync(join(folder, name), "", { flag: "wx", mode: 0o600 });
      writeIdentity(join(folder, name), self);
      return name;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
  throw new StoreInUse(`this process has opened ${folder} more than ${namesMax} times`);
}

/** Writes the identity of this process into its marker file. On a full disk the file stays empty,
 *  and only its date shows that the process runs. */
function writeIdentity(path: string, self: LocationUser): void {
  try {
    writeFileSync(path, JSON.stringify(self), { flag: "r+" });
  } catch (error) {
    if (!isNoSpaceError(error)) throw error;
    truncateSync(path);
  }
}

function checkOthers(folder: string, ownName: string, self: LocationUser): boolean {
  const touched = statSync(join(folder, ownName)).mtimeMs;
  let isExclusive = true;
  for (const name of namesIn(folder)) {
    if (name === ownName) continue;
    const path = join(folder, name);
    const user = readUser(path);
    if (!isUserAlive(path, user, { self, touched })) {
      rmSync(path, { force: true });
      continue;
    }
    isExclusive = false;
    if (user !== undefined) checkOther(path, user, self);
  }
  return isExclusive;
}

/** Throws if this process cannot share the data folder with another one that runs. */
function checkOther(path: string, user: LocationUser, self: LocationUser): void {
  const folder = dirname(path);
  if (user.bootId !== self.bootId) {
    throw new StoreInUse(
      `${folder}: process ${user.pid} on machine ${user.host} has this location open; ` +
        "only processes of one machine can share it",
      path,
    );
  }
  if (user.namespace !== self.namespace) {
    throw new StoreInUse(
      `${folder}: process ${user.pid} in another container (${user.host}) has this location ` +
        "open; only processes that see each other can share it. If it was killed, the location " +
        `is free after ${silenceSecondsMax} seconds`,
      path,
    );
  }
  if (user.format !== self.format) {
    throw new StoreInUse(
      `${folder}: process ${user.pid} has this location open in format ${user.format}, ` +
        `this release writes ${self.format}; stop it first`,
    );
  }
}

function isUserAlive(
  path: string,
  user: LocationUser | undefined,
  own: { readonly self: LocationUser; readonly touched: number },
): boolean {
  if (user?.bootId === own.self.bootId) {
    if (user.namespace === own.self.namespace) return isAlive(user);
  } else if (user !== undefined && user.host === own.self.host) {
    // The machine has booted since the marker was written, so the process has ended.
    return false;
  }
  const silence = own.touched - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return silence < 1000 * silenceSecondsMax;
}

/** Touches the marker file every 5 s; returns a function that ends it. */
function keepTouching(path: string, self: LocationUser, clock: Clock): () => void {
  let cancel = clock.after(heartbeatMilliseconds, function beat() {
    cancel = clock.after(heartbeatMilliseconds, beat);
    try {
      touch(path, self);
    } catch {
      // The folder was removed. Commits will fail and report that; an exception here would end the
      // process.
    }
  });
  return () => cancel();
}

/** Renews the date of the marker file, by a truncation to its own length: so the date comes from
 *  the clock of the file system, and no space is needed. */
function touch(path: string, self: LocationUser): void {
  const { size } = statSync(path);
  if (size === 0) writeIdentity(path, self);
  else truncateSync(path, size);
}

/** Identifies this machine by host name and machine id, because host names alone are not unique.
 *  Machines without an id have only the name. */
function hostIdentity(): string {
  return [hostname(), readText("/etc/machine-id")?.trim()].filter(Boolean).join(" ");
}

function readUser(path: string): LocationUser | undefined {
  try {
    return JSON.parse(readText(path) ?? "") as LocationUser;
  } catch {
    return undefined;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

const pauseMilliseconds = 1_000;
/** Tries of `awaitLocation`, one per second: longer than a marker file takes to expire. */
const triesMax = silenceSecondsMax + 10;

/** Claims a data folder like `claimLocation`, but waits if a process in another container or on
 *  another machine may have been killed: its marker file looks like that of a running one until it
 *  has not been touched for 30 s. As soon as the file is touched, the location is known to be in
 *  use and the claim fails. */
export async function awaitLocation(options: LocationOptions, log: Log): Promise<Location> {
  let firstTouched: number | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      return claimLocation(options);
    } catch (error) {
      if (!(error instanceof StoreInUse) || error.markerPath === undefined) throw error;
      const touched = statSync(error.markerPath, { throwIfNoEntry: false })?.mtimeMs;
      const isUsed =
        firstTouched !== undefined && touched !== undefined && touched !== firstTouched;
      if (isUsed || tries >= triesMax) throw error;
      firstTouched ??= touched;
      if (tries === 1) {
        const { location } = options;
        const message = "location may be in use; waiting up to 30 s for its marker file to expire";
        log.warn({ err: error, location, marker: error.markerPath }, message);
      }
      await new Promise<void>((resolve) => void options.clock.after(pauseMilliseconds, resolve));
    }
  }
}
