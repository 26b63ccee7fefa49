import { resolve } from "node:path";
import { isObject } from "../account/field-table.ts";
import type { Clock, Log } from "../base/world.ts";
import { openAuditLog } from "./audit-log.ts";
import type { ServedAccounts } from "../data/accounts.ts";
import { connectionStringOf } from "../admin/connection-string.ts";
import { environmentVariable, realEnvironment } from "../host/world.ts";
import { expectFreeDescriptors } from "../host/process.ts";
import { openConfiguredAccounts } from "./configured-accounts.ts";
import { defaultLocation } from "./flags.ts";
import type { StopPace } from "./listener.ts";
import { logFor } from "../host/log.ts";
import { resolveOptions, show, type Options, type StartOptions } from "./options.ts";
import { readSecrets } from "./secret-options.ts";
import { risksOf } from "./setup-risks.ts";
import {
  exportToFile,
  loadFromFile,
  type ExportFileOptions,
  type LoadFileOptions,
} from "../commands/archive/archive-file.ts";
import type { ExportReport } from "../commands/archive/export-accounts.ts";
import type { LoadReport } from "../commands/archive/load-archive.ts";
import { RunningServer, stopPaces } from "./running-server.ts";
import type { EndpointName } from "./service-listener.ts";
import { StartRefused } from "../host/refused.ts";
import type { Faults } from "../controls/fault-injector.ts";
import type { Snapshot } from "../controls/server-snapshots.ts";
import {
  serverClock,
  travellingClock,
  type ServerClock,
  type TravellingClock,
} from "../controls/travelling-clock.ts";
import type { ServerEnvironment, Telemetry } from "./server-environment.ts";
import { SnapshotError } from "../store/saved-states/saved-states.ts";
import { StoreUnavailable } from "../store/store.ts";

/** A server in this process, as `start()`, the main function of the package, returns it to programs
 *  and tests. `await using` stops it at the end of its block. */
export interface EtagereServer extends AsyncDisposable {
  /** Connection string of the first account, for any Azure client library. */
  readonly connectionString: string;
  /** Base addresses without the account, e.g. `http://127.0.0.1:10000`. */
  readonly urls: Readonly<Partial<Record<EndpointName, string>>>;
  readonly adminUrl: string;
  /** The address that opens the explorer. If a login is required, it contains a token that is valid
   *  for one login within an hour. */
  explorerLink(): string;
  /** Address of the SMB endpoint (`smb://127.0.0.1:10445`); empty if SMB is not served. */
  readonly smbUrl: string;
  /** Accepts no more requests, waits for running ones, and closes the store. */
  stop(): Promise<void>;
  /** Deletes all data of all accounts in one transaction. */
  reset(): Promise<void>;
  /** Saves the complete state of all accounts, at no cost. Without a name the snapshot ends with
   *  the server. */
  snapshot(name?: string): Promise<Snapshot>;
  /** Returns all accounts to a snapshot, in one transaction. The time is proportional to the
   *  changes since the snapshot. Rejects with `SnapshotError` if there is no snapshot of this
   *  name. */
  restore(snapshot: Pick<Snapshot, "name"> | string): Promise<void>;
  /** Writes accounts with all their data to an archive, a file that `load` and the commands read.
   *  Rejects with `ArchiveRefused` if an account does not exist. */
  export(file: string, options?: ExportFileOptions): Promise<ExportReport>;
  /** Loads the accounts of an archive, in one transaction at the end. Rejects with `ArchiveRefused`
   *  if the archive is damaged, or an account has data that is not to be replaced. */
  load(file: string, options?: LoadFileOptions): Promise<LoadReport>;
  /** Moves the time of the server forward, so that leases, visibility timeouts and SAS expire
   *  without waiting. */
  readonly clock: ServerClock;
  /** Injects faults into the next requests. */
  readonly faults: Faults;
  readonly events: ServerEvents;
  /** Reads the settings of the accounts from the configuration file again. */
  reload(): Promise<void>;
}

export interface ServerEvents {
  /** Resolves when every event that was committed before the call is delivered or dead-lettered,
   *  for all subscriptions. Retries wait for the time of the server: `clock.advance` moves them. */
  settled(): Promise<void>;
}

/** Starts a server in this process, without output. Rejects with `StartRefused` if it cannot
 *  start. */
export async function start(input: StartOptions = {}): Promise<EtagereServer> {
  return (await startInProcess(input)).api;
}

/** A server with its API for programs, and with parts that only this package uses. */
export interface InProcessServer {
  readonly api: EtagereServer;
  readonly server: RunningServer;
  readonly clock: TravellingClock;
}

export async function startInProcess(input: StartOptions): Promise<InProcessServer> {
  if (!isObject(input)) throw new StartRefused([`options: must be an object, not ${show(input)}`]);
  if ("workers" in input) throw new StartRefused(["workers: only the command has workers"]);
  const options = orRefuse(resolveOptions(orRefuse(await readSecrets(input))));
  // Errors are logged all the same, because they are bugs or failing disks.
  const log = logFor({ ...options, silent: true });
  const environment = realEnvironment(log);
  const clock = travellingClock(environment.clock);
  const open = await openServer(options, { ...environment, clock, announce: () => {} });
  return { api: apiOf(open, clock), server: open.server, clock };
}

/** Starts the server of the command line, which gives options and environment. */
export async function startWith(
  options: Options,
  environment: ServerEnvironment,
  pace: keyof typeof stopPaces = "program",
): Promise<EtagereServer> {
  return apiOf(await openServer(options, environment), environment.clock, stopPaces[pace]);
}

function apiOf(
  { server, accounts }: OpenServer,
  clock: Clock,
  pace: StopPace = stopPaces.program,
): EtagereServer {
  return {
    get connectionString() {
      const [first] = accounts.names();
      const account = first === undefined ? undefined : accounts.get(first);
      return account === undefined ? "" : connectionStringOf(account, server.urls);
    },
    urls: server.urls,
    adminUrl: server.adminUrl,
    explorerLink: () => server.explorerLink(),
    smbUrl: server.smbUrl,
    stop: () => server.stop(pace),
    reset: () => server.reset(),
    snapshot: (name) => server.controls.snapshots.save(name),
    restore: async (snapshot) => server.controls.snapshots.restore(snapshotName(snapshot)),
    export: (file, given) => exportToFile(server.controls, file, given),
    load: (file, given) => loadFromFile(server.controls, file, given),
    clock: serverClock(clock),
    faults: server.faults,
    events: { settled: async () => void (await server.subscriptions.settled()) },
    reload: () => server.reload(),
    [Symbol.asyncDispose]: () => server.stop(pace),
  };
}

/** The name of a snapshot that a program gives, in JavaScript perhaps something else. */
function snapshotName(given: unknown): string {
  const name = isObject(given) ? given["name"] : given;
  if (typeof name === "string") return name;
  const message = `restore: needs a snapshot or its name, not ${show(given)}`;
  throw new SnapshotError("InvalidSnapshotName", message);
}

export interface OpenServer {
  readonly server: RunningServer;
  readonly accounts: ServedAccounts;
}

export async function openServer(
  options: Options,
  environment: ServerEnvironment,
): Promise<OpenServer> {
  expectFreeDescriptors();
  const accounts = orRefuse(await openConfiguredAccounts(options));
  const location = options.inMemoryPersistence
    ? undefined
    : resolve(options.location ?? defaultLocation);
  const log = summarizeUnavailable(environment.log, environment.clock);
  // Of several workers one logs them.
  if (environment.worker?.isMain !== false) {
    const risks = await risksOf(options, accounts);
    for (const { fields, text, advice } of risks) log.warn({ ...fields, advice }, text);
  }
  const auditLog = await openAuditLog(options, { ...environment, log });
  const telemetry = await telemetryOf(options, { ...environment, log });
  const given = { ...environment, auditLog, telemetry, log, options, accounts, location };
  try {
    return { server: await RunningServer.open(given), accounts };
  } catch (error) {
    await Promise.all([auditLog?.close(), telemetry?.close()]);
    throw error;
  }
}

/** Opens the export of traces and metrics; loads the SDK of OpenTelemetry only with `--otlp`.
 *  `OTEL_SDK_DISABLED=true` disables it, as in all programs with OpenTelemetry. */
async function telemetryOf(
  { otlp }: Options,
  environment: Pick<ServerEnvironment, "clock" | "random" | "log">,
): Promise<Telemetry | undefined> {
  if (environmentVariable("OTEL_SDK_DISABLED")?.toLowerCase() === "true") return undefined;
  if (otlp === undefined) {
    const name = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    const isGiven = (environmentVariable(name) ?? "") !== "";
    if (isGiven) environment.log.warn({ name }, "no traces without --otlp or its variable");
    return undefined;
  }
  const { openTelemetry } = await import("./telemetry/open-telemetry.ts");
  return openTelemetry({ ...environment, url: otlp });
}

function orRefuse<T>(
  parsed:
    | { readonly ok: true; readonly value: T }
    | { readonly ok: false; readonly problems: readonly string[] },
): T {
  if (parsed.ok) return parsed.value;
  throw new StartRefused(parsed.problems);
}

const summaryMilliseconds = 60_000;
/** Messages that are summarised. There are always fewer, because messages are constant strings; the
 *  limit bounds memory in case of a bug. */
const messagesMax = 100;

interface Summary {
  readonly level: "warn" | "error";
  reason: string;
  count: number;
}

/** Returns a log that writes lines with a `StoreUnavailable` error at most once per minute and
 *  message, with the number of failures since the previous line and without the stack: on a full
 *  disk every write fails, and the log may be on the same disk. */
export function summarizeUnavailable(log: Log, clock: Clock): Log {
  const summaries = new Map<string, Summary>();
  const report = (message: string, summary: Summary): void => {
    log[summary.level]({ reason: summary.reason, count: summary.count }, message);
    summary.count = 0;
    clock.after(summaryMilliseconds, () => {
      if (summary.count === 0) summaries.delete(message);
      else report(message, summary);
    });
  };
  const write = (level: Summary["level"], fields: object, message: string): void => {
    const error = "err" in fields ? fields.err : undefined;
    if (!(error instanceof StoreUnavailable)) return log[level](fields, message);
    const running = summaries.get(message);
    if (running !== undefined) {
      running.reason = error.message;
      running.count += 1;
      return;
    }
    const summary: Summary = { level, reason: error.message, count: 1 };
    if (summaries.size < messagesMax) summaries.set(message, summary);
    report(message, summary);
  };
  return {
    ...log,
    warn: (fields, message) => write("warn", fields, message),
    error: (fields, message) => write("error", fields, message),
  };
}
