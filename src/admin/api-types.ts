import type { ServiceName } from "../protocol/names.ts";

/** Types of responses of the admin API (docs/ADMIN.md), or of parts of them: the routes of this
 *  folder write them, the explorer and commands read them. The types of other responses are derived
 *  from the functions that make them (`ReturnType`). Only types, so that the explorer contains no
 *  code of the server. Times are ISO 8601. */

export type { ServiceName };

/** What a principal may do with a service, or with one container, queue, table or share. */
export interface Capabilities {
  /** List the containers, queues, tables or shares of the account. */
  readonly list: boolean;
  /** Create and delete containers, queues, tables or shares. */
  readonly manage: boolean;
  readonly read: boolean;
  readonly write: boolean;
  readonly delete: boolean;
  /** Create user delegation SAS; only for the whole service. */
  readonly sign: boolean;
  /** Dequeue messages. */
  readonly process: boolean;
  /** Change messages in flight (those that a client has dequeued and not deleted). */
  readonly update: boolean;
  /** Change the tags of blobs. */
  readonly tag: boolean;
}

/** The capabilities that the roles of a principal grant in an account. */
export interface Permissions {
  readonly services: Readonly<Record<ServiceName, Capabilities>>;
  /** What role assignments with a narrower scope add. */
  readonly scopes: readonly (Capabilities & {
    readonly service: ServiceName;
    readonly name: string;
  })[];
}

/** The token of a login link to the explorer. The client builds the URL: `<admin
 *  URL>/#login=<link>`. */
export interface LoginLink {
  /** The token behind `#login=`; undefined if no login is required. */
  readonly link?: string;
}

/** The state of the caller's login, and how it can log in. */
export interface Session {
  readonly loginRequired: boolean;
  readonly loggedIn: boolean;
  /** When the login ends; undefined without a login. */
  readonly expiresAt?: string;
  /** Set if the login administers only this account. */
  readonly account?: string;
  /** Set if the login is that of a principal. */
  readonly principal?: { readonly name: string; readonly objectId: string };
  readonly methods: readonly LoginMethod[];
}

export type LoginMethod = "key" | "token" | "principal" | "bearer";

export interface AccountKeys {
  readonly account: string;
  readonly keys: readonly string[];
  readonly connectionString: string;
}

/** A handle or lease that prevents a request from proceeding, and the client that has it. */
export interface Holder {
  readonly client: string;
  /** Id of the SMB handle. */
  readonly open?: string;
  /** Id of an Azure lease. */
  readonly lease?: string;
  readonly what: string;
}

/** A client that waits for a lock, for a break of a caching grant, or for a lease. */
export interface Wait {
  readonly kind: "lock" | "break" | "lease";
  readonly service: ServiceName;
  readonly account: string;
  readonly container: string;
  readonly path: string;
  readonly waiter: {
    readonly client: string;
    readonly operation: string;
    readonly agent?: string | undefined;
  };
  readonly since: string;
  readonly seconds: number;
  /** Rejected requests of a client that tries to get a lease; absent for requests that wait. */
  readonly attempts?: number;
  readonly holders: readonly Holder[];
}

export interface WaitsView {
  readonly now: string;
  readonly waits: readonly Wait[];
  /** Deadlocks: lists of clients, each of which waits for the next one, the last for the first. */
  readonly cycles: readonly (readonly string[])[];
}

/** The containers, queues, tables and shares of an account, counted up to 1,000 each. */
export interface StoredView {
  readonly account: string;
  /** Absent for an account without a quota. */
  readonly quotaBytes?: number;
  /** Absent without a quota, and until the server has counted the bytes. */
  readonly usedBytes?: number;
  readonly services: Readonly<
    Record<ServiceName, { readonly count: number; readonly isComplete: boolean }>
  >;
}

/** An entry of an object's timeline: one of its stored states, or a request on it. The fields of
 *  `Refusal` are set only for a rejected request. */
export interface TimelineEntry extends Partial<Omit<Refusal, "caller">> {
  readonly at: string;
  readonly what: string;
  readonly etag?: string;
  readonly contentLength?: number;
  readonly versionId?: string;
  readonly snapshot?: string;
  readonly caller?: Refusal["caller"];
}

export interface Timeline {
  readonly now: string;
  /** Time of the first request that the feed has recorded. */
  readonly watchedSince: string;
  readonly etag: string | null;
  readonly entries: readonly TimelineEntry[];
}

/** Stored states of a blob (versions, snapshots, soft-deleted ones), newest first; `next` is the
 *  parameter `after` of the request for the next page. */
export interface StatesPage {
  readonly states: readonly TimelineEntry[];
  readonly next?: string;
}

export interface Caller {
  readonly kind: string;
  /** Name of the principal, if it is a local one. */
  readonly name?: string;
  readonly objectId?: string;
  readonly address: string;
  readonly agent?: string;
}

/** A rejected request (304, 409, 412, or 403 for lack of a role) and the check that failed. */
export interface Refusal {
  readonly at: string;
  readonly requestId: string;
  readonly service: string;
  readonly operation: string;
  readonly method: string;
  readonly account: string;
  readonly container: string;
  readonly path: string;
  readonly partitionKey?: string;
  readonly rowKey?: string;
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly rule: string;
  readonly condition?: {
    readonly header: string;
    readonly expected: readonly string[] | string;
    readonly actual: string | null;
  };
  readonly lease?: {
    readonly given: string | null;
    readonly holder: string | null;
    readonly state: string;
    readonly secondsLeft?: number | null;
  };
  /** Lists of actions that the caller lacks, of which any would suffice, and roles that grant
   *  one. */
  readonly missing?: {
    readonly actions: readonly (readonly string[])[];
    readonly roles: readonly string[];
  };
  readonly caller: Caller;
}

export interface LeaseEvent extends Pick<ChangeEvent, "at" | "service" | ObjectField> {
  readonly action: string;
  readonly kind: string;
  readonly id: string;
}

type ObjectField = "account" | "container" | "path";

export interface ReturnedMessage {
  readonly at: string;
  readonly action: "returned";
  readonly account: string;
  readonly queue: string;
  readonly id: string;
  readonly dequeueCount: number;
}

export interface ChangeEvent {
  readonly at: string;
  readonly service: string;
  readonly operation: string;
  readonly account: string;
  readonly container: string;
  readonly path?: string;
  readonly partitionKey?: string;
  readonly rowKey?: string;
  readonly etag?: string;
}

export interface Signature {
  readonly query: string;
  readonly expiresAt: string;
  readonly url: string;
  readonly gatewayUrl: string;
}
