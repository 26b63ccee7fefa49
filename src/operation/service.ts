import type { Awaitable } from "../base/awaitable.ts";
import type { CorsRule } from "../protocol/cors.ts";
import type { Dialect } from "./dialect.ts";
import type { Effect, LogAppend, ReclaimJob } from "./effects.ts";
import type { EntityKeys } from "../protocol/principal.ts";
import type { FaultCode, FaultDetail } from "../protocol/faults.ts";
import type { Lease, LeaseKind } from "../protocol/lease.ts";
import type { Features } from "../protocol/features.ts";
import type { Address, Operation } from "./operation.ts";
import type { ServiceName } from "../protocol/names.ts";
import type { PathAccess } from "../protocol/posix-access.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import type { Reply } from "./reply.ts";
import type { Result } from "../protocol/result.ts";
import type { AnyTable, JobScope } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { TransferHandler } from "./transfer-handler.ts";
import type { ScopeName } from "../store/encryption/scope-keys.ts";
import type { RecordView } from "./view.ts";

/** The form in which a service is declared: its resources, operations, tables and background
 *  handlers. Listeners (`http/`), stores (`data/services.ts`), the admin API and the commands
 *  derive what they do from it. */

/** Access rules of the container, share, queue or table that the target is in. */
export interface Access {
  readonly policies: readonly StoredPolicy[];
  readonly publicAccess?: "container" | "blob";
  /** Returns the access control lists that apply to the target; undefined if the account's
   *  namespace is flat. */
  readonly path?: () => PathAccess;
  /** Whether the target is a file, so that nothing can be below it. Undefined if the operation does
   *  not depend on it. */
  readonly isFile?: boolean;
}

/** The request for which a service loads the addressed records. */
export interface LoadRequest<A = Address> {
  readonly account: string;
  readonly address: A;
  /** The parsed parameters of the operation; undefined if only the resource is read. */
  readonly input?: object;
  /** The operation that will run; undefined if only the resource is read. */
  readonly operation?: Operation;
  readonly features?: Features;
  /** The revision of the identities with which roles were checked; undefined if the caller needs
   *  none. */
  readonly identityRevision?: bigint | undefined;
  /** Where the request names the account; undefined if only the resource is read. */
  readonly accountPlace?: AccountPlace | undefined;
}

/** Where a request names its account: in the host, in the path, or in neither. */
export type AccountPlace = "host" | "path" | "elsewhere";

/** The records that a request addresses. */
export interface LoadedResource {
  /** Access rules; undefined if the container, share, queue or table does not exist. Present even
   *  if the target is missing, because 403 comes before 404. */
  readonly access: Access | undefined;
  /** The parent records of the target, or the fault if one of them is missing. */
  readonly scope: Result<object>;
  /** Undefined if the target does not exist. */
  readonly target: object | undefined;
  /** The address of the target if parameters of the request place it elsewhere than its URL says;
   *  otherwise undefined. A SAS must be valid for it, too. */
  readonly address?: Address;
  /** The lease of a target that does not exist yet: of a blob that has only uncommitted blocks. It
   *  is checked as that of a target. Undefined if there is none. */
  readonly lease?: Lease | undefined;
  /** Details of the fault if a required target is missing. */
  readonly missing?: FaultDetail;
  /** True if the target was deleted so recently that its name cannot be used again yet
   *  (`account/deleted-names.ts`). Loaded only for operations that may create the target; undefined
   *  for all other operations. */
  readonly isNameReserved?: boolean;
  readonly cors: readonly CorsRule[];
}

/** A kind of resource: how its records are loaded and stored, and its fault codes. */
export interface Resource<A = Address> {
  /** Loads the target and its parents. `previous`: what the preceding operation of the same
   *  transaction loaded, if it addressed the same kind of resource in the same account. */
  readonly load: (
    view: RecordView,
    request: LoadRequest<A>,
    previous?: LoadedResource,
  ) => Awaitable<LoadedResource>;
  /** The table of the target's record; undefined if the target is not one record. */
  readonly table: AnyTable | undefined;
  readonly keyOf: (scope: object, request: LoadRequest<A>) => unknown;
  /** Called if the target is absent and the operation may create it, before `reads` and `decide`.
   *  The decision gets the returned scope; the returned effects are applied before those of the
   *  decision. Undefined if there is nothing to prepare. */
  readonly prepareCreation?: (
    scope: object,
    creation: CreationContext<A>,
  ) => Result<PreparedScope> | undefined;
  /** Called with every record of the target that a decision writes; returns the record to store. */
  readonly completeRecord?: (record: object, creation: RecordCreation) => object;
  /** Fault code if a required target does not exist. */
  readonly missing: FaultCode;
  /** Fault code if the target exists and must not. */
  readonly present: FaultCode;
  /** Details of that fault, such as the kind of the entry that exists. */
  readonly describePresent?: (target: object, features: Features) => FaultDetail;
  /** Fault code of an operation that would create a target with a reserved name. */
  readonly reserved?: FaultCode;
  /** Which lease codes and texts apply; without effect on resources that have no leases. */
  readonly leaseKind: LeaseKind;
  /** Checks for every operation on a resource of this kind, after all other checks. */
  readonly guard?: (guarded: GuardContext<A>) => Result<void>;
  /** The encryption scope of content that a request stores: the one that it names, or the default
   *  of its container; undefined if there is neither. */
  readonly contentScope?: (
    view: RecordView,
    request: LoadRequest<A>,
    named: string | undefined,
  ) => Promise<ScopeName | undefined>;
  /** The events of a decision, which are written in its transaction. Called only if the account has
   *  an event log. Undefined if changes of this kind of resource are no events. */
  readonly eventsOf?: (change: DecidedChange<A>, view: RecordView) => Awaitable<readonly Effect[]>;
}

/** A decision that is about to be written. */
export interface DecidedChange<A = Address> {
  readonly operation: Operation;
  readonly address: A;
  readonly input: object;
  readonly scope: object;
  /** The target's record before the change. */
  readonly before: object | undefined;
  readonly reply: Reply<object>;
  readonly now: Ticks;
  readonly newETag: Ticks;
  /** The service URL that the client used. */
  readonly endpoint: string;
  readonly requestId: string;
  readonly clientRequestId: string | undefined;
}

/** What `prepareCreation` gets: the request, and generated values. */
export interface CreationContext<A = Address> {
  readonly operation: Operation;
  readonly address: A;
  readonly input: object;
  readonly features: Features;
  readonly now: Ticks;
  readonly newETag: Ticks;
  readonly newId: () => bigint;
  /** Object id of a caller with a bearer token. */
  readonly callerId: string | undefined;
}

/** What `completeRecord` gets beside the record. */
export interface RecordCreation {
  readonly operation: Operation;
  readonly scope: object;
  /** The record that is replaced; undefined for a new one. */
  readonly before: object | undefined;
  /** Object id of a caller with a bearer token. */
  readonly callerId: string | undefined;
}

/** The scope with its prepared parents, and the effects that create the parents. */
export interface PreparedScope {
  readonly scope: object;
  readonly effects: readonly Effect[];
}

/** What `guard` gets: the request and the loaded records. */
export interface GuardContext<A = Address> {
  readonly operation: Operation;
  readonly address: A;
  readonly target: object | undefined;
  readonly scope: object;
  readonly input: object;
  readonly features: Features;
  readonly now: Ticks;
}

/** A service as its folder declares it (`blob/service.ts`, for example). */
export interface Service {
  readonly name: ServiceName;
  /** Set for another API to the records of the service; undefined for the service's own API. */
  readonly api?: "dfs";
  /** Finds the resource that a decoded path below the account addresses. */
  readonly identify: (path: string, query: QueryReader) => Result<Address>;
  /** Like `identify`, for a path of the account's static website. */
  readonly identifyPage?: (path: string) => Result<Address>;
  /** The names that a SAS is compared with: container, share, queue or table, and the path
   *  below. `header` returns the headers of the request that is authenticated. */
  readonly signedName: (
    address: Address,
    header?: (name: string) => string | undefined,
  ) => SignedName;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly operations: readonly Operation[];
  /** All tables of the service, index tables included. */
  readonly tables: readonly AnyTable[];
  /** How the service differs from other services in HTTP. Undefined if it does not differ. */
  readonly dialect?: Dialect;
  /** Handlers of reclaim jobs by kind of job, beside those that follow from the declarations of the
   *  tables (`operation/owned-records.ts`). */
  readonly reclaimers?: Readonly<Record<string, ReclaimHandler>>;
  /** Handlers of asynchronous copies, by kind of job. */
  readonly transfers?: Readonly<Record<string, TransferHandler>>;
}

/** The names of a request that a SAS is compared with. `name` is the container, share, queue or
 *  table; undefined if the URL names none. */
export interface SignedName {
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly entity?: EntityKeys | undefined;
}

/** The query parameters of a URL, by name; undefined for those that it lacks. */
export interface QueryReader {
  get(name: string): string | undefined;
}

/** Handles one step of a reclaim job: reads a bounded number of records, and returns what to
 *  remove, further jobs, and whether the job is done. Called again in a new transaction until it is
 *  done. */
export type ReclaimHandler = (view: RecordView, scope: JobScope) => Promise<Reclamation>;

/** The changes of one step of a reclaim job. */
export interface Reclamation {
  readonly removals?: readonly Removal[];
  readonly appends?: readonly LogAppend[];
  /** Changes of commutative counters. */
  readonly counts?: readonly { readonly counter: Uint8Array; readonly delta: bigint }[];
  readonly jobs?: readonly ReclaimJob[];
  readonly done: boolean;
}

/** A record to delete. */
export interface Removal {
  /** Undefined for keys of other entries, for example counters. */
  readonly table?: AnyTable;
  readonly key: Uint8Array;
}

/** A resource without the type of its addresses, for `Service.resources`. */
export function defineResource<A extends Address>(resource: Resource<A>): Resource {
  return resource as unknown as Resource;
}
