import type { ExtentFiles } from "../../src/content/extents/extent-files.ts";
import type { OpenStorage } from "../../src/data/storage-backends.ts";
import { openAccounts } from "../../src/data/accounts.ts";
import { resolveOptions, type Options } from "../../src/server/options.ts";
import type { Connect } from "../../src/http/source/remote-source.ts";
import { RunningServer } from "../../src/server/running-server.ts";
import { listenSmb } from "../../src/server/smb-endpoint.ts";
import type { StateReader } from "../../src/store/engine.ts";
import type { Random as ByteSource } from "../../src/base/world.ts";
import { accounts as accountSettings } from "../verify/wire.ts";
import type { Conditions, FaultCounts, FaultRates, Latencies } from "./faults.ts";
import type { EventName } from "./plan.ts";
import type { Scheduler } from "./scheduler.ts";
import type { LogLine, SimProcess } from "./sim-process.ts";
import { keptAccount, keptSettings } from "./workloads/kept-versions.ts";
import { quotaAccount, quotaSettings } from "./workloads/quota.ts";
import { softAccount, softSettings } from "./workloads/soft-delete.ts";

/** Opens a connection of a server process to a server of the simulated network. */
export type PeerConnect = (from: SimProcess, ...to: Parameters<Connect>) => ReturnType<Connect>;

export interface SiteOptions {
  readonly scheduler: Scheduler;
  readonly conditions: Conditions;
  readonly rates: FaultRates;
  readonly latencies: Latencies;
  readonly counts: FaultCounts;
  readonly extentBytes: number;
  /** Whether no server process ends during the run. */
  readonly keepsNodes: boolean;
  readonly random: ByteSource;
  readonly write: (line: LogLine) => void;
  readonly connect: PeerConnect;
}

/** Where server processes run, and where their data is: one machine with a data folder, or nodes
 *  on a database and a bucket. */
export interface Site {
  /** How long processes are paused. */
  readonly pauseSeconds: readonly number[];
  newProcess(): SimProcess;
  /** Starts a server process. Resolves when it serves; rejects if it refuses to. */
  serve(process: SimProcess): Promise<RunningServer>;
  /** Something happens to the site that is not the end of a process. */
  happen(name: EventName): void;
  /** Loss of power, after which all processes have ended. */
  losePower(): void;
  /** Everything works again. */
  heal(): void;
  /** What is stored, for checks that take no time; another call has nothing in a cache. */
  stored(): Promise<StoredData>;
  /** Changes a stored bit of an extent. */
  rot(extent: bigint, position: number, bit: number): void;
}

export interface StoredData {
  readonly state: StateReader;
  readonly files: ExtentFiles;
  readonly extents: readonly bigint[];
}

/** Opens a server whose storage the site opens. */
export async function openServer(
  process: SimProcess,
  openStorage: OpenStorage,
  connect: PeerConnect,
): Promise<RunningServer> {
  const accounts = await openAccounts({
    given: {
      ...accountSettings,
      [keptAccount]: keptSettings,
      [softAccount]: softSettings,
      [quotaAccount]: quotaSettings,
    },
  });
  if (!accounts.ok) throw new Error(accounts.problems.join());
  const { clock, random, log } = process;
  return RunningServer.open({
    clock,
    random,
    log,
    options: serverOptions,
    accounts: accounts.value,
    location: undefined,
    announce: () => {},
    machine: {
      openStorage,
      connect: (...to) => connect(process, ...to),
      bind: async (bound, { title }) => void process.servers.set(title, bound),
    },
  });
}

/** A server loads it when it starts to listen; in a simulation nothing may be loaded. */
export const loadedBefore = [listenSmb];

const serverOptions = optionsOrThrow();

function optionsOrThrow(): Options {
  const resolved = resolveOptions({ silent: true, skipApiVersionCheck: false });
  if (!resolved.ok) throw new Error(resolved.problems.join());
  return resolved.value;
}
