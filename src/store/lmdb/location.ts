import { mkdirSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { renameSync, truncateSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";

import type { Clock } from "../../base/world.ts";
import { identifyProcess, isAlive, processNamespace } from "../process-identity.ts";
import type { ProcessIdentity } from "../process-identity.ts";

/** Raised when an older release could no longer read what is written. */
export const formatVersion = 2;

/** The folder was written by a newer release. */
export class StoreTooNew extends Error {
  override readonly name = "StoreTooNew";
}

/** Another machine or container, or a release with another format, has the folder open. */
export class StoreInUse extends Error {
  override readonly name = "StoreInUse";
  /** The file that whoever has it open touches; without one it is certain that it is running. */
  readonly markerPath: string | undefined;

  constructor(message: string, sign?: string) {
    super(message);
    this.markerPath = sign;
  }
}

export interface LocationOptions {
  readonly location: string;
  readonly clock: Clock;
  readonly format?: number;
  readonly host?: string;
  readonly namespace?: string;
}

export interface Location {
  /** Nobody else had it open at that moment. */
  readonly isExclusive: boolean;
  release(): void;
}

interface LocationUser extends ProcessIdentity {
  readonly bootId: string;
  readonly host: string;
  /** Process ids mean nothing outside of it. */
  readonly namespace: string;
  readonly format: number;
}

/** A file that was not touched for this long belongs to no running process. */
export const silenceSecondsMax = 30;
const heartbeatMilliseconds = 5_000;
const namesMax = 10_000;
const noSpaceCodes: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT"]);

/**
 * Everyone who has the folder open keeps a file in `open/` and touches it now and then. On the same
 * boot the process list says who is alive, if it is the same list; a file of another machine or
 * container counts while it is touched, measured against our own file, so that only the clock of
 * the file system matters.
 */
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
    const isAlone = checkOthers(folder, name, self);
    const stop = keepTouching(path, self, clock);
    return {
      isExclusive: isAlone,
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

function checkFormat(location: string, format: number): void {
  const path = join(location, "format");
  const found = readText(path);
  if (found === undefined) {
    // Several processes may come first at the same time, with the same thing to say.
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, `${format}\n`, { flush: true, mode: 0o600 });
    renameSync(draft, path);
  } else if (Number(found) > format) {
    throw new StoreTooNew(
      `${location} was written in format ${found.trim()} by a newer release; ` +
        `this one knows up to ${format}`,
    );
  }
}

/** Whoever reads half of it takes its date as a sign of life. */
function createOwnFile(folder: string, self: LocationUser): string {
  for (let count = 0; count < namesMax; count += 1) {
    const name = `${self.pid}-${self.startTime}-${count}.json`;
    try {
      writeFileSync(join(folder, name), "", { flag: "wx", mode: 0o600 });
      describe(join(folder, name), self);
      return name;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
  }
  throw new StoreInUse(`this process has opened ${folder} too often`);
}

/** Without space for a block the file stays empty; its date alone then says that it runs. */
function describe(path: string, self: LocationUser): void {
  try {
    writeFileSync(path, JSON.stringify(self), { flag: "r+" });
  } catch (error) {
    if (!isNoSpace(error)) throw error;
    truncateSync(path);
  }
}

function isNoSpace(error: unknown): boolean {
  return error instanceof Error && "code" in error && noSpaceCodes.has(error.code);
}

function checkOthers(folder: string, ownName: string, self: LocationUser): boolean {
  const touched = statSync(join(folder, ownName)).mtimeMs;
  let isAlone = true;
  for (const name of readdirSync(folder)) {
    if (name === ownName) continue;
    const path = join(folder, name);
    const opener = readOpener(path);
    if (!isOpenerAlive(path, opener, { self, touched })) {
      rmSync(path, { force: true });
      continue;
    }
    isAlone = false;
    if (opener !== undefined) checkOther(path, opener, self);
  }
  return isAlone;
}

function checkOther(path: string, opener: LocationUser, self: LocationUser): void {
  const folder = dirname(path);
  if (opener.bootId !== self.bootId) {
    throw new StoreInUse(
      `${folder}: process ${opener.pid} on machine ${opener.host} has this location open; ` +
        "only processes of one machine can share it",
      path,
    );
  }
  if (opener.namespace !== self.namespace) {
    throw new StoreInUse(
      `${folder}: process ${opener.pid} in another container (${opener.host}) has this location ` +
        "open; only processes that see each other can share it. If it was killed, the location " +
        `is free after ${silenceSecondsMax} seconds`,
      path,
    );
  }
  if (opener.format !== self.format) {
    throw new StoreInUse(
      `${folder}: process ${opener.pid} has this location open in format ${opener.format}, ` +
        `this release writes ${self.format}; stop it first`,
    );
  }
}

function isOpenerAlive(
  path: string,
  opener: LocationUser | undefined,
  own: { readonly self: LocationUser; readonly touched: number },
): boolean {
  if (opener?.bootId === own.self.bootId) {
    if (opener.namespace === own.self.namespace) return isAlive(opener);
  } else if (opener !== undefined && opener.host === own.self.host) {
    // The same machine has booted since: whoever ran then has ended.
    return false;
  }
  const silence = own.touched - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return silence < 1000 * silenceSecondsMax;
}

function keepTouching(path: string, self: LocationUser, clock: Clock): () => void {
  let cancel = clock.after(heartbeatMilliseconds, function beat() {
    cancel = clock.after(heartbeatMilliseconds, beat);
    try {
      touch(path, self);
    } catch {
      // The folder was removed under us; whatever needs it will say so.
    }
  });
  return () => cancel();
}

/** Cut to its length rather than dated: so the file system's own clock says when, and it takes no
 *  space. */
function touch(path: string, self: LocationUser): void {
  const { size } = statSync(path);
  if (size === 0) describe(path, self);
  else truncateSync(path, size);
}

/** Names alone are not unique; machines without an id of their own only have their names. */
function hostIdentity(): string {
  return [hostname(), readText("/etc/machine-id")?.trim()].filter(Boolean).join(" ");
}

function readOpener(path: string): LocationUser | undefined {
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
