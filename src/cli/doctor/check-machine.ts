import { constants } from "node:fs";
import { access, readFile, stat, statfs } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { ticksPerSecond, unixEpochTicks } from "../../base/ticks.ts";
import type { Clock } from "../../base/world.ts";
import { systemErrorCode } from "../../host/refused.ts";
import { listenerNames, type Options } from "../../server/options.ts";

/** Checks of the machine by `etagere doctor`: ports, open files, disk and clock. Also here:
 *  `Finding`, the form in which every check of `doctor/` returns its result. */

/** The result of a check, which `cli/doctor-command.ts` prints. */
export interface Finding {
  /** The subject, for example `port 10000`. */
  readonly subject: string;
  readonly state: "ok" | "warning" | "problem";
  readonly text: string;
  /** What the user should do; absent if there is nothing to do. */
  readonly advice?: string;
}

export function ok(subject: string, text: string): Finding {
  return { subject, state: "ok", text };
}

export function warning(subject: string, text: string, advice: string): Finding {
  return { subject, state: "warning", text, advice };
}

export function problem(subject: string, text: string, advice: string): Finding {
  return { subject, state: "problem", text, advice };
}

/** Whether the ports of the server are free, or in use by the server itself. */
export async function checkPorts(options: Options, isRunning: boolean): Promise<Finding[]> {
  const found: Finding[] = [];
  for (const name of listenerNames) {
    const [host, port] = [options[`${name}Host`], options[`${name}Port`]];
    if (port === 0 || (name === "smb" && options.noSmb)) continue;
    found.push(describePort(`--${name}Port`, await tryPort(host, port), { host, port, isRunning }));
  }
  return found;
}

interface Place {
  readonly host: string;
  readonly port: number;
  readonly isRunning: boolean;
}

function describePort(option: string, code: string | undefined, place: Place): Finding {
  const { host, port, isRunning } = place;
  const subject = `port ${port}`;
  switch (code) {
    case undefined:
      return ok(subject, `free at ${host}`);
    case "EADDRINUSE":
      return isRunning
        ? ok(subject, "in use, probably by the running server")
        : problem(
            subject,
            `in use at ${host}`,
            `end the program that uses it (ss -ltnp 'sport = :${port}'), or choose ${option}`,
          );
    case "EACCES":
      return problem(
        subject,
        "this user may not use it",
        `choose ${option} above 1023, or give the capability CAP_NET_BIND_SERVICE`,
      );
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return problem(
        subject,
        `this machine has no address ${host}`,
        `correct ${option.replace("Port", "Host")}; 0.0.0.0 stands for all addresses`,
      );
    default:
      return problem(subject, `cannot be used at ${host}: ${code}`, `choose another ${option}`);
  }
}

function tryPort(host: string, port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(systemErrorCode(error) ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Default limits such as 1024 are reached by a few hundred connections and the extents (files of
 *  stored bytes). */
const openFilesMin = 4096;

/** Checks how many files a process may open; without a finding where the system is not Linux. */
export async function checkOpenFiles(read = readLimits): Promise<Finding[]> {
  const subject = "open files";
  const limit = /^Max open files\s+(\S+)/m.exec((await read()) ?? "")?.[1];
  if (limit === undefined) return [];
  if (limit === "unlimited" || Number(limit) >= openFilesMin) {
    return [ok(subject, `limit ${limit}`)];
  }
  const advice =
    "raise the limit: `ulimit -n 65536` in a shell, LimitNOFILE=65536 in a systemd unit, " +
    "--ulimit nofile=65536:65536 for containers";
  const text = `limit ${limit}: each connection and each extent needs one`;
  return [warning(subject, text, advice)];
}

function readLimits(): Promise<string | undefined> {
  return readFile("/proc/self/limits", "utf8").catch(() => undefined);
}

const mebibyte = 1024 * 1024;
/** Less free space of the disk is a problem, or a reason for a warning. */
const freeBytesMin = { problem: 64 * mebibyte, warning: 1024 * mebibyte };

/** Checks free space and access of the data folder, or of the folder that would contain it. */
export async function checkFolder(location: string, canUse = access): Promise<Finding[]> {
  const subject = "data folder";
  const folder = await nearestExisting(location);
  if (!(await stat(folder)).isDirectory()) {
    const advice = "choose another --location, or move the file away";
    return [problem(subject, `${folder} is not a folder`, advice)];
  }
  const code = await canUse(folder, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => undefined,
    (error: unknown) => systemErrorCode(error) ?? "access denied",
  );
  if (code === "EROFS") {
    const advice = `mount the file system for writing: mount -o remount,rw ${folder}`;
    return [problem(subject, `${folder} is mounted read-only`, advice)];
  }
  if (code !== undefined) {
    const advice = `give the user of the server read and write access: chown -R USER ${folder}`;
    return [problem(subject, `${folder} cannot be written (${code})`, advice)];
  }
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  const text = `${Math.floor(free / mebibyte)} MiB free at ${folder}`;
  const advice = "free space on the disk, or move the folder to a larger one (etagere copy)";
  if (free < freeBytesMin.problem) return [problem("disk", text, advice)];
  if (free < freeBytesMin.warning) return [warning("disk", text, advice)];
  return [ok("disk", text)];
}

async function nearestExisting(path: string): Promise<string> {
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  const parent = dirname(path);
  return exists || parent === path ? path : nearestExisting(parent);
}

/** A larger difference between two clocks is a problem. */
const clockSecondsMax = 5;
/** 2025-01-01. A clock that shows an earlier time was never set: machines without a battery begin
 *  in 1970. */
const earliestTicks = unixEpochTicks + 1_735_689_600n * ticksPerSecond;

/** Compares the clock of the machine with other clocks, by the name of each (the database, for
 *  example). */
export function checkClock(clock: Clock, others: ReadonlyMap<string, bigint>): Finding[] {
  const subject = "clock";
  const advice = "synchronise the clock (chrony, systemd-timesyncd)";
  const now = clock.wall();
  if (now < earliestTicks) return [problem(subject, "the clock was never set", advice)];
  const wrong = [...others].flatMap(([name, at]) => {
    const seconds = Number((now - at) / ticksPerSecond);
    if (Math.abs(seconds) <= clockSecondsMax) return [];
    const how = seconds < 0 ? "behind" : "ahead of";
    const text = `${Math.abs(seconds)} s ${how} that of ${name}`;
    return [problem(subject, `${text}: signatures depend on it`, advice)];
  });
  if (wrong.length > 0) return wrong;
  const compared =
    others.size === 0 ? "set" : `agrees with that of ${[...others.keys()].join(", ")}`;
  return [ok(subject, compared)];
}
