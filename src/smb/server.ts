import { createServer, type Socket, type Server } from "node:net";
import type { Accounts } from "../account/settings.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import type { Log, World } from "../base/world.ts";
import type { Runtime, Wait } from "../operation/work.ts";
import { SmbAuditor, type WriteSmbAudit, ChangeReporter } from "./audit/smb-auditor.ts";
import type { ReportFileChange } from "../file/file-change.ts";
import { BreakNotifier } from "./files/break-notifier.ts";
import { ChangeDispatcher } from "./files/change-dispatcher.ts";
import { DurableHandles, Replays } from "./files/durability.ts";
import type { FileHandle } from "./files/file-handle.ts";
import { HandleCloser } from "./handle-closer.ts";
import { serverTrafficBytesMax } from "./limits.ts";
import { type Session, endSession } from "./session.ts";
import { ServerTraffic } from "./traffic.ts";
import { SecurityMode, Dialect } from "./wire/protocol.ts";
import { Connection } from "./connection.ts";

/** The SMB server: its TCP listener, and the state that all its connections share.
 *  `server/smb-endpoint.ts` starts it. */

/** What the administration API may do with SMB: list the sessions and waiting requests of this
 *  server process, and end a session. */
export interface SmbAdministration {
  sessions(): readonly SessionFacts[];
  /** The requests of this process that wait for a lock or a break. */
  waits(): readonly Wait[];
  /** Since the start of this process: requests that waited, break notifications that it sent. */
  counts(): { readonly waits: number; readonly breaks: number };
  /** Ends a session and closes its handles. False if no session has this id. */
  end(id: bigint): Promise<boolean>;
}

/** A session as the administration API shows it. */
export interface SessionFacts {
  readonly id: bigint;
  readonly account: string;
  readonly clients: readonly string[];
  readonly dialect: string;
  readonly isSigned: boolean;
  readonly isEncrypted: boolean;
  readonly shares: readonly string[];
  readonly openCount: number;
}

const dialectNames: Readonly<Record<number, string>> = {
  [Dialect.v202]: "2.0.2",
  [Dialect.v210]: "2.1",
  [Dialect.v300]: "3.0",
  [Dialect.v302]: "3.0.2",
  [Dialect.v311]: "3.1.1",
};

function administrationOf(server: SmbServerState): SmbAdministration {
  return {
    sessions: () => [...server.sessions.values()].map(factsOf),
    waits: () => server.world.runtime.waits?.list() ?? [],
    counts: () => ({
      waits: server.world.runtime.waits?.count ?? 0,
      breaks: server.breakNotifier.sentCount,
    }),
    async end(id) {
      const session = server.sessions.get(id);
      if (session === undefined) return false;
      await endSession(server, session, "close");
      return true;
    },
  };
}

function factsOf(session: Session): SessionFacts {
  const { id, account, negotiated, channels, trees, handles } = session;
  return {
    id,
    account,
    clients: [...channels].map(({ connection }) => connection.peer),
    dialect: dialectNames[negotiated.dialect] ?? "",
    isSigned: session.signingRequired,
    isEncrypted: session.requiresEncryption,
    shares: [...trees.values()]
      .filter(({ kind }) => kind === "disk")
      .map((tree) => tree.share.name),
    openCount: handles.size,
  };
}

/** Work that no request awaits, for example closing the handles of a lost connection. Keeps its
 *  promises, so that a stop, or a new login, can wait for it. */
class BackgroundWork {
  readonly #log: Log;
  readonly #running = new Set<Promise<void>>();
  /** Work that closes sessions and handles, by the account of the session. */
  readonly #byAccount = new Map<string, Set<Promise<void>>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Tracks work until it ends, for `awaitAll`, and logs its failure. */
  add(work: Promise<void>): Promise<void> {
    const tracked = work
      .catch((error: unknown) => {
        this.#log.error({ err: error }, "SMB background work failed");
      })
      .finally(() => void this.#running.delete(tracked));
    this.#running.add(tracked);
    return tracked;
  }

  /** Tracks work like `add`; in addition the next login of the account waits for it. */
  addForAccount(account: string, work: Promise<void>): void {
    const ofAccount = this.#byAccount.get(account) ?? new Set();
    this.#byAccount.set(account, ofAccount);
    const tracked = this.add(work).finally(() => {
      ofAccount.delete(tracked);
      if (ofAccount.size === 0) this.#byAccount.delete(account);
    });
    ofAccount.add(tracked);
  }

  /** Resolves when the handles of earlier sessions of the account are closed. Does not wait for
   *  other work, such as change notifications, which may never pause. */
  async awaitAccount(account: string): Promise<void> {
    const ofAccount = this.#byAccount.get(account);
    if (ofAccount !== undefined) await Promise.all(ofAccount);
  }

  async awaitAll(): Promise<void> {
    await Promise.all(this.#running);
  }
}

/** The connections of each client, by the ClientGuid of NEGOTIATE, oldest first: the notification
 *  of an SMB lease break may be sent on any of them. */
class ClientConnections {
  readonly #connections = new Map<string, Set<Connection>>();

  add(connection: Connection): void {
    const all = this.#connections.get(connection.clientId) ?? new Set();
    this.#connections.set(connection.clientId, all.add(connection));
  }

  remove(connection: Connection): void {
    const all = this.#connections.get(connection.clientId);
    all?.delete(connection);
    if (all?.size === 0) this.#connections.delete(connection.clientId);
  }

  /** The oldest connection of the client of `connection` that has an authenticated channel. */
  oldestAuthenticated(connection: Connection): Connection | undefined {
    for (const each of this.#connections.get(connection.clientId) ?? []) {
      if ([...each.channels.values()].some(({ isValid }) => isValid)) return each;
    }
    return undefined;
  }
}

/** What the SMB server gets from the process that it runs in. */
export interface SmbEnvironment extends World {
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
  /** Writes an entry to the audit log. Undefined if the server has no audit log. */
  readonly audit?: WriteSmbAudit | undefined;
  /** Receives the changes of files, for the request feed; undefined without one. */
  readonly reportChange?: ReportFileChange | undefined;
}

/** The progress of the incomplete frame of a connection. */
export interface FrameProgress {
  /** Whether a frame has begun and the server waits for the rest. */
  readonly isWaiting: boolean;
  /** Number of bytes received so far on the connection. */
  readonly bytes: number;
  end(): void;
}

interface SmbOptions {
  /** Whether dialect 2.0.2 may be negotiated, which has no leases and no large messages. */
  readonly allowsOldestDialect: boolean;
  /** Whether requests of a session that are neither signed nor encrypted are rejected. */
  readonly requiresSigning: boolean;
  readonly serverName: string;
}

/** What all connections of the SMB server share: sessions, watches, durable handles and limits. */
export class SmbServerState {
  readonly world: SmbEnvironment;
  readonly guid: Uint8Array;
  /** Id of this process, with which lock records name the owner of an open. */
  readonly owner: string;
  /** Authenticated sessions by id: requests of other connections may name them, too. */
  readonly sessions = new Map<bigint, Session>();
  readonly clientConnections = new ClientConnections();
  readonly breakNotifier: BreakNotifier;
  readonly changeDispatcher: ChangeDispatcher;
  readonly durableHandles: DurableHandles;
  readonly replays = new Replays();
  readonly traffic: ServerTraffic;
  readonly handleCloser: HandleCloser;
  readonly backgroundWork: BackgroundWork;
  readonly auditor: SmbAuditor | undefined;
  readonly changeReporter: ChangeReporter | undefined;

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
    this.changeReporter = world.reportChange && new ChangeReporter(world.reportChange);
  }

  /** SecurityMode in NEGOTIATE and FSCTL_VALIDATE_NEGOTIATE_INFO responses. */
  get securityMode(): number {
    const { signingEnabled, signingRequired } = SecurityMode;
    return this.world.options.requiresSigning ? signingEnabled | signingRequired : signingEnabled;
  }

  /** A random id of a session. It has 32 bits, because some clients truncate it. It need not be
   *  hard to guess: a client also needs the key of the session. */
  newSessionId(): bigint {
    return this.newId() & 0xffff_ffffn || 1n;
  }

  /** Closes durable handles whose connection was lost, because another client breaks their caching
   *  grant, and no client is left to acknowledge that. */
  closeAbandoned(handles: readonly FileHandle[]): void {
    for (const handle of handles) this.durableHandles.remove(handle);
    this.closeInBackground(handles);
  }

  /** Closes handles of one session; the caller does not wait. */
  closeInBackground(handles: readonly FileHandle[]): void {
    const [first] = handles;
    if (first !== undefined)
      this.backgroundWork.addForAccount(first.session.account, this.handleCloser.close(handles));
  }

  /** A random id, which clients cannot guess. Never 0 or all ones, which are reserved. */
  newId(): bigint {
    const bytes = this.world.random.bytes(8);
    const id = Buffer.from(bytes).readBigUInt64LE() >> 1n;
    return id === 0n ? 1n : id;
  }
}

/** What `smbListener` returns. */
interface SmbListener {
  readonly server: Server;
  readonly administration: SmbAdministration;
  /** Closes all connections. Their clients drop what they cache, and may connect again. */
  disconnectAll(): void;
  /** Closes all connections and all handles, durable ones included. */
  stop(): Promise<void>;
}

/** Limit of the TCP connections of the server, which bounds memory; further ones are closed. */
const connectionsMax = 1024;

/** Creates the SMB server; the caller binds `server` to an address. */
export function smbListener(world: SmbEnvironment): SmbListener {
  const state = new SmbServerState(world);
  const connections = new Set<Connection>();
  const server = createServer((socket) => {
    const connection = new Connection(state, socket);
    connections.add(connection);
    socket.on("close", () => connections.delete(connection));
  });
  server.maxConnections = connectionsMax;
  const disconnectAll = (): void => {
    for (const connection of connections) connection.end();
  };
  return {
    server,
    administration: administrationOf(state),
    disconnectAll,
    async stop() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      disconnectAll();
      state.handleCloser.stop();
      state.changeDispatcher.stop();
      await closed;
      await state.backgroundWork.awaitAll();
      await state.durableHandles.closeAll();
    },
  };
}
