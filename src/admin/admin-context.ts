import type { AccountManager } from "../account/account-changes.ts";
import type { Accounts } from "../account/settings.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import type { ServiceName } from "../protocol/names.ts";
import type { World } from "../base/world.ts";
import type { Wait, Runtime } from "../operation/work.ts";
import type { SubscriptionManager } from "../events/subscription-manager.ts";
import type { HttpService, Observer } from "../http/http-service.ts";
import type { SmbAdministration } from "../smb/server.ts";
import type { AdminAudit } from "./admin-audit.ts";
import type { FeedEvent } from "./feed/feed-event.ts";
import type { IdentityContext } from "./identity/token-issuer.ts";
import type { AdminSecurity } from "./security/admin-auth.ts";
import type { Figures } from "./views/figures.ts";
import type { Feed } from "./feed/feed.ts";
import type { Health } from "./views/health.ts";
import type { HealthHistory } from "./views/health-history.ts";

export type HttpServices = Readonly<Partial<Record<ServiceName, HttpService>>>;

/** What the admin listener gets from the running server. `server/admin-listener.ts` makes it: this
 *  folder must not import the server. */
export interface AdminContext extends World {
  /** Limits the memory of all request bodies of the process together; undefined: no limit. */
  readonly memory?: MemoryBudget | undefined;
  readonly runtime: Runtime;
  readonly accounts: Accounts;
  readonly accountManager: AccountManager;
  readonly subscriptions: SubscriptionManager;
  readonly httpServices: HttpServices;
  /** The Data Lake API of the blob service; undefined if blobs are not served. */
  readonly dfs?: HttpService | undefined;
  readonly observer: Observer;
  /** Writes an entry to the audit log. Undefined if the server has no audit log. */
  readonly audit?: ((audited: AdminAudit) => void) | undefined;
  /** Undefined without `--workers`: then the server is one process. */
  readonly otherWorkers?: OtherWorkers | undefined;
  /** Undefined if SMB is not served. */
  readonly smb: SmbAdministration | undefined;
  /** The local token service; undefined without one. */
  readonly identity?: IdentityContext | undefined;
  readonly facts: () => ServerFacts;
  readonly figures: Figures;
  readonly sizes: () => Promise<Sizes>;
  /** For `/readyz`: resolves if requests can be served, otherwise rejects with the reason. */
  readonly ready: () => Promise<void>;
  readonly metrics: () => Promise<string>;
  /** Deletes all data; undefined unless the server was started with `--enableReset`. */
  readonly reset: (() => Promise<void>) | undefined;
  readonly snapshots: SnapshotControl;
  readonly archives: ArchiveControl;
  /** Folder with the built files of the explorer. */
  readonly pageFolder: string;
  readonly security: AdminSecurity;
}

/** Saves and restores named states of all accounts (`etagere snapshot`). Calls reject with
 *  `SnapshotError`, for example if the name does not exist. */
interface SnapshotControl {
  list(): readonly { readonly name: string; readonly savedAt: string }[];
  save(name: string): Promise<unknown>;
  restore(name: string): Promise<void>;
  delete(name: string): Promise<void>;
}

/** Exports accounts to archives (files with all their data) and loads archives. A problem with an
 *  archive is a result with `ok: false`, not an exception. */
export interface ArchiveControl {
  /** Whether the stored data is encrypted; the exported bytes are not. */
  readonly isEncrypted: boolean;
  export(request: ArchiveExport): Promise<ArchiveResult>;
  load(
    archive: AsyncIterable<Uint8Array>,
    request: { readonly as: string | undefined; readonly replace: boolean },
  ): Promise<ArchiveResult>;
}

interface ArchiveExport {
  /** Names of accounts. An empty list means all accounts. */
  readonly accounts: readonly string[];
  readonly withKeys: boolean;
  readonly sink: (bytes: Uint8Array) => Promise<void>;
  /** Called before the first byte with the approximate size of the archive before compression, by
   *  which the command shows its progress. */
  readonly onTotal?: ((bytes: number) => void) | undefined;
}

export type ArchiveResult =
  | { readonly ok: true; readonly report: object }
  | { readonly ok: false; readonly problems: readonly string[] };

/** The other worker processes of this server, whose requests the explorer shows too. */
export interface OtherWorkers {
  /** Starts passing the request events of the other workers to `receive`, with the number of events
   *  that were dropped; undefined ends it. `reads`: keys of the objects whose reads are events. */
  observe(receive: ReceiveEvents | undefined, reads: readonly string[]): void;
  /** The calls of the other workers that wait until an SMB client gives up a caching grant. */
  waits(): Promise<readonly Wait[]>;
}

export type ReceiveEvents = (events: readonly FeedEvent[], missed: number) => void;

/** What the functions in `views/` get of the server. Not its accounts: a view uses those of the
 *  request (`CheckedRequest`), which are the ones that its caller administers. */
export type ViewContext = Omit<AdminContext, "accounts" | "security">;

/** What routes get: all that views get (`ViewContext`), and what the admin listener itself keeps in
 *  memory, such as the request feed. */
export interface RouteContext extends ViewContext {
  readonly feed: Feed;
  readonly health: Health;
  readonly history: HealthHistory;
}

/** Version, addresses and kinds of storage of the running server. */
export interface ServerFacts {
  readonly version: string;
  readonly adminUrl: string;
  readonly smbUrl: string;
  readonly store: "lmdb" | "memory" | "postgres";
  readonly content: "disk" | "memory" | "s3";
  /** Base URLs without the account name. */
  readonly urls: Readonly<Partial<Record<ServiceName, string>>>;
  /** Programs of the latest connections to this process, latest first. */
  readonly clients: readonly {
    readonly agent: string;
    readonly version: string | undefined;
    readonly seenAt: string;
  }[];
}

/** Bytes of the data folder on disk, for the health page; unknown without a data folder. */
export interface Sizes {
  readonly storeBytes?: number;
  readonly contentBytes?: number;
}
