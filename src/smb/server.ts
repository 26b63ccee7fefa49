import type { Socket } from "node:net";
import type { Accounts } from "../account/settings.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import type { Clock, Log, Random } from "../base/world.ts";
import type { Runtime } from "../operation/execute.ts";
import type { WriteSmbAudit } from "./audit/audit-entry.ts";
import { SmbAuditor } from "./audit/smb-auditor.ts";
import { BreakNotifier } from "./files/break-notifier.ts";
import { ChangeDispatcher } from "./files/change-dispatcher.ts";
import { DurableHandles } from "./files/durable-handles.ts";
import type { FileHandle } from "./files/file-handle.ts";
import { LockWaits } from "./files/lock-waits.ts";
import { Replays } from "./files/replays.ts";
import { ClientConnections } from "./client-connections.ts";
import { BackgroundWork } from "./background-work.ts";
import { HandleCloser } from "./handle-closer.ts";
import { serverTrafficBytesMax } from "./limits.ts";
import type { Session } from "./session.ts";
import { ServerTraffic } from "./traffic.ts";
import { SecurityMode } from "./wire/protocol.ts";

/** What the SMB server gets from the process that it runs in. */
export interface SmbEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly accounts: Accounts;
  readonly runtime: Runtime;
  /** Id of this server process, stored in each of its opens. Opens of processes that have ended are
   *  removed. */
  readonly owner: string;
  readonly options: SmbOptions;
  /** Memory limit for requests and bodies of all clients of the process. */
  readonly memory?: MemoryBudget;
  /** Ends connections whose incomplete frame makes no progress; called once for each. */
  readonly watchFrames?: (socket: Socket, frames: FrameProgress) => void;
  /** Writes the audit log; undefined without one. */
  readonly audit?: WriteSmbAudit | undefined;
}

/** The progress of the incomplete frame of a connection. */
export interface FrameProgress {
  /** Whether a frame has begun and the server waits for the rest. */
  readonly isWaiting: boolean;
  /** Bytes received so far on the connection. */
  readonly bytes: number;
  /** Closes the connection. */
  end(): void;
}

export interface SmbOptions {
  /** Whether dialect 2.0.2 may be negotiated, which has no leases and no large messages. */
  readonly allowsOldestDialect: boolean;
  /** Whether requests of a session that are neither signed nor encrypted are rejected. */
  readonly requiresSigning: boolean;
  readonly serverName: string;
}

/** State shared by all connections of one server. */
export class SmbServerState {
  readonly world: SmbEnvironment;
  readonly guid: Uint8Array;
  /** `owner` of the opens of this process in lock records. */
  readonly owner: string;
  /** Authenticated sessions, for session binding and PreviousSessionId. */
  readonly sessions = new Map<bigint, Session>();
  readonly clientConnections = new ClientConnections();
  readonly breakNotifier: BreakNotifier;
  readonly changeDispatcher: ChangeDispatcher;
  readonly durableHandles: DurableHandles;
  readonly replays = new Replays();
  readonly lockWaits = new LockWaits();
  readonly traffic: ServerTraffic;
  readonly handleCloser: HandleCloser;
  readonly backgroundWork: BackgroundWork;
  /** Undefined without an audit log. */
  readonly auditor: SmbAuditor | undefined;

  constructor(world: SmbEnvironment) {
    this.world = world;
    this.guid = world.random.bytes(16);
    this.owner = world.owner;
    this.traffic = new ServerTraffic(world.memory?.bytesMax ?? serverTrafficBytesMax);
    this.breakNotifier = new BreakNotifier(this);
    this.changeDispatcher = new ChangeDispatcher(this);
    this.durableHandles = new DurableHandles(this);
    this.handleCloser = new HandleCloser(this);
    this.backgroundWork = new BackgroundWork(world.log);
    this.auditor = world.audit && new SmbAuditor(world.audit);
  }

  /** SecurityMode in NEGOTIATE and FSCTL_VALIDATE_NEGOTIATE_INFO responses. */
  get securityMode(): number {
    const { signingEnabled, signingRequired } = SecurityMode;
    return this.world.options.requiresSigning ? signingEnabled | signingRequired : signingEnabled;
  }

  /** A SessionId of 32 bits, because some clients truncate it. It need not be hard to guess,
   *  because requests are signed. */
  newSessionId(): bigint {
    return this.newId() & 0xffff_ffffn || 1n;
  }

  /** Closes durable handles without a connection that prevent an open of another client. */
  closeAbandoned(handles: readonly FileHandle[]): void {
    for (const handle of handles) this.durableHandles.remove(handle);
    this.closeInBackground(handles);
  }

  /** Closes handles of one session without waiting for the end. */
  closeInBackground(handles: readonly FileHandle[]): void {
    const [first] = handles;
    if (first !== undefined)
      this.backgroundWork.addForAccount(first.session.account, this.handleCloser.close(handles));
  }

  /** A random id, so that clients cannot guess it. Never 0 or all ones, which are reserved. */
  newId(): bigint {
    const bytes = this.world.random.bytes(8);
    const id = Buffer.from(bytes).readBigUInt64LE() >> 1n;
    return id === 0n ? 1n : id;
  }
}
