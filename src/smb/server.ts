import type { Accounts } from "../account/settings.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import type { Clock, Log, Random } from "../base/world.ts";
import type { Runtime } from "../operation/execute.ts";
import { BreakNotifier } from "./files/break-notifier.ts";
import { ChangeDispatcher } from "./files/change-dispatcher.ts";
import { DurableHandles } from "./files/durable-handles.ts";
import type { FileHandle } from "./files/file-handle.ts";
import { Replays } from "./files/replays.ts";
import { Clients } from "./clients.ts";
import { BackgroundWork } from "./endings.ts";
import { HandleCloser } from "./handle-closer.ts";
import type { Session } from "./session.ts";
import { SecurityMode } from "./wire/protocol.ts";

/** What all connections of a server share. */
export interface SmbWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly accounts: Accounts;
  readonly runtime: Runtime;
  /** The process that answers for handles; what a dead one held is swept. */
  readonly owner: string;
  readonly options: SmbOptions;
  /** What the messages and bodies of all clients of the process may hold. */
  readonly memory?: MemoryBudget;
}

export interface SmbOptions {
  /** The oldest dialect has no leases and small messages: only old clients and tests want it. */
  readonly allowsOldestDialect: boolean;
  /** Messages of a session are refused unless they are signed or encrypted. */
  readonly requiresSigning: boolean;
  readonly serverName: string;
}

export class SmbServerState {
  readonly world: SmbWorld;
  readonly guid: Uint8Array;
  /** Under which this server's handles stand in the locks of files. */
  readonly owner: string;
  /** Those whose login is done, for clients that come back or join from another connection. */
  readonly sessions = new Map<bigint, Session>();
  readonly clients = new Clients();
  readonly breakNotifier: BreakNotifier;
  readonly changeDispatcher: ChangeDispatcher;
  readonly durableHandles: DurableHandles;
  readonly replays = new Replays();
  readonly handleCloser: HandleCloser;
  readonly backgroundWork: BackgroundWork;

  constructor(world: SmbWorld) {
    this.world = world;
    this.guid = world.random.bytes(16);
    this.owner = world.owner;
    this.breakNotifier = new BreakNotifier(this);
    this.changeDispatcher = new ChangeDispatcher(this);
    this.durableHandles = new DurableHandles(this);
    this.handleCloser = new HandleCloser(this);
    this.backgroundWork = new BackgroundWork(world.log);
  }

  /** The SecurityMode that clients are told, in NEGOTIATE and when they validate it. */
  get securityMode(): number {
    const { signingEnabled, signingRequired } = SecurityMode;
    return this.world.options.requiresSigning ? signingEnabled | signingRequired : signingEnabled;
  }

  /** Some clients keep but half of it; nobody gains by guessing one, because keys protect it. */
  newSessionId(): bigint {
    return this.newId() & 0xffff_ffffn || 1n;
  }

  /** Handles whose client is gone and which somebody else needs out of the way. */
  closeAbandoned(handles: readonly FileHandle[]): void {
    for (const handle of handles) this.durableHandles.remove(handle);
    this.closeInBackground(handles);
  }

  /** Closes handles that no request waits for. */
  closeInBackground(handles: readonly FileHandle[]): void {
    const [first] = handles;
    if (first !== undefined) this.backgroundWork.addForAccount(first.session.account, this.handleCloser.close(handles));
  }

  /** Never zero and never all ones, which mean something else; random, so that none is guessed. */
  newId(): bigint {
    const bytes = this.world.random.bytes(8);
    const id = Buffer.from(bytes).readBigUInt64LE() >> 1n;
    return id === 0n ? 1n : id;
  }
}
