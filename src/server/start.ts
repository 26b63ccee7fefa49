import { resolve } from "node:path";
import type { Clock } from "../base/world.ts";
import { openAuditLog } from "./audit/audit-log.ts";
import { openAccounts, type ReloadableAccounts } from "./accounts.ts";
import { connectionStringOf } from "../admin/connection-string.ts";
import { environmentVariable } from "./world.ts";
import { expectFreeDescriptors } from "./file-descriptors.ts";
import { defaultLocation } from "./flags.ts";
import { logFor } from "./log.ts";
import { isLocal, oauthOf, resolveOptions } from "./options.ts";
import type { Options, StartOptions } from "./options.ts";
import { readSecretFile, readSecrets } from "./secret-options.ts";
import { exportToFile, loadFromFile } from "./archive/archive-file.ts";
import type { ExportFileOptions, LoadFileOptions } from "./archive/archive-file.ts";
import type { ExportReport } from "./archive/export-accounts.ts";
import type { LoadReport } from "./archive/load-archive.ts";
import { RunningServer } from "./running-server.ts";
import type { EndpointName } from "./endpoint-names.ts";
import { StartRefused } from "./start-refused.ts";
import type { Faults } from "./faults/fault-injector.ts";
import type { Snapshot } from "./snapshots/server-snapshots.ts";
import { serverClock, type ServerClock } from "./time-travel/server-clock.ts";
import { travellingClock, type TravellingClock } from "./time-travel/travelling-clock.ts";
import { summarizeUnavailable } from "./summarize-unavailable.ts";
import { realEnvironment, type ServerEnvironment } from "./server-environment.ts";

/** A server in this process. `await using` stops it at the end of its block. */
export interface EtagereServer extends AsyncDisposable {
  /** Connection string of the first account, for any Azure client library. */
  readonly connectionString: string;
  /** Base addresses without the account, e.g. `http://127.0.0.1:10000`. */
  readonly urls: Readonly<Partial<Record<EndpointName, string>>>;
  readonly adminUrl: string;
  /** The address that opens the explorer. If a login is required, it contains a token that is valid
   *  for one login within an hour. */
  explorerLink(): string;
  /** Address of the SMB endpoint, such as `smb://127.0.0.1:10445`; empty if SMB is not served. */
  readonly smbUrl: string;
  /** Accepts no more requests, waits for running ones, and closes the store. */
  stop(): Promise<void>;
  /** Deletes all data of all accounts in one transaction. */
  reset(): Promise<void>;
  /** Saves the complete state of all accounts, at no cost. Without a name the snapshot ends with
   *  the server. */
  snapshot(name?: string): Promise<Snapshot>;
  /** Returns all accounts to a snapshot, in one transaction. Takes time in proportion to what has
   *  changed since. Rejects with `SnapshotError` if there is no such snapshot. */
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
  /** Reads the settings of the accounts from the configuration file again. */
  reload(): Promise<void>;
}

/** Starts a server in this process, without output. Rejects with `StartRefused` if it cannot
 *  start. */
export async function start(input: StartOptions = {}): Promise<EtagereServer> {
  return (await startInProcess(input)).api;
}

/** A server with its API for programs, and what only this package uses. */
export interface InProcessServer {
  readonly api: EtagereServer;
  readonly server: RunningServer;
  readonly clock: TravellingClock;
}

export async function startInProcess(input: StartOptions): Promise<InProcessServer> {
  if ("workers" in input) throw new StartRefused(["workers: only the command has workers"]);
  const options = orRefuse(resolveOptions(orRefuse(await readSecrets(input))));
  // Errors are logged all the same, because they are bugs or failing disks.
  const log = logFor({ ...options, silent: true });
  const environment = realEnvironment(log);
  const clock = travellingClock(environment.clock);
  const open = await openServer(options, { ...environment, clock, announce: () => {} });
  return { api: apiOf(open, clock), server: open.server, clock };
}

export async function startWith(
  options: Options,
  environment: ServerEnvironment,
): Promise<EtagereServer> {
  return apiOf(await openServer(options, environment), environment.clock);
}

function apiOf({ server, accounts }: OpenServer, clock: Clock): EtagereServer {
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
    stop: () => server.stop(),
    reset: () => server.reset(),
    snapshot: (name) => server.controls.snapshots.save(name),
    restore: (snapshot) =>
      server.controls.snapshots.restore(typeof snapshot === "string" ? snapshot : snapshot.name),
    export: (file, given) => exportToFile(server.controls.archives, file, given),
    load: (file, given) => loadFromFile(server.controls.archives, file, given),
    clock: serverClock(clock),
    faults: server.faults,
    reload: () => server.reload(),
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

export interface OpenServer {
  readonly server: RunningServer;
  readonly accounts: ReloadableAccounts;
}

export async function openServer(
  options: Options,
  environment: ServerEnvironment,
): Promise<OpenServer> {
  expectFreeDescriptors();
  const accounts = orRefuse(
    await openAccounts({
      config: options.config,
      given: options.accounts,
      identity: options.identity,
      isLocal: isLocal(options),
      oauth: oauthOf(options),
      variable: await accountsVariable(),
      hierarchicalNamespace: options.enableHierarchicalNamespace,
      noDevelopmentAccount: options.noDevelopmentAccount,
    }),
  );
  const location = options.inMemoryPersistence
    ? undefined
    : resolve(options.location ?? defaultLocation);
  const log = summarizeUnavailable(environment.log, environment.clock);
  const auditLog = await openAuditLog(options, { ...environment, log });
  const given = { ...environment, auditLog, log, options, accounts, location };
  try {
    return { server: await RunningServer.open(given), accounts };
  } catch (error) {
    await auditLog?.close();
    throw error;
  }
}

/** The text of AZURITE_ACCOUNTS, or the content of the file that AZURITE_ACCOUNTS_FILE names. */
async function accountsVariable(): Promise<string | undefined> {
  const file = environmentVariable("AZURITE_ACCOUNTS_FILE");
  if (file === undefined || file === "") return environmentVariable("AZURITE_ACCOUNTS");
  const read = await readSecretFile(file);
  if (read.ok) return read.value;
  throw new StartRefused(read.problems.map((problem) => `AZURITE_ACCOUNTS_FILE: ${problem}`));
}

function orRefuse<T>(
  parsed:
    | { readonly ok: true; readonly value: T }
    | { readonly ok: false; readonly problems: readonly string[] },
): T {
  if (parsed.ok) return parsed.value;
  throw new StartRefused(parsed.problems);
}
