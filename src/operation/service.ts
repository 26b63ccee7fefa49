import type { Awaitable } from "../base/awaitable.ts";
import type { CorsRule } from "../protocol/cors.ts";
import type { Dialect } from "./dialect.ts";
import type { Effect, ReclaimJob } from "./effects.ts";
import type { EntityKeys } from "../protocol/entity-range.ts";
import type { FaultCode, FaultDetail } from "../protocol/faults.ts";
import type { LeaseKind } from "../protocol/lease.ts";
import type { Features } from "../protocol/features.ts";
import type { Address, Operation } from "./operation.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import type { PathAccess } from "../protocol/posix-access.ts";
import type { StoredPolicy } from "../protocol/permission.ts";
import type { Result } from "../protocol/result.ts";
import type { AnyTable } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { TransferHandler } from "./transfer-handler.ts";
import type { RecordView } from "./view.ts";

/** Access rules that the owner of a container or share has set. */
export interface Access {
  readonly policies: readonly StoredPolicy[];
  readonly publicAccess?: "container" | "blob";
  /** The access control lists that apply to the target; undefined if the account has none. */
  readonly path?: () => PathAccess;
}

export interface LoadRequest<A = Address> {
  readonly account: string;
  readonly address: A;
  /** Parsed parameters of the operation, where they affect what the address means. */
  readonly input?: object;
  /** The operation that will run; undefined if the resource is only read. */
  readonly operation?: Operation;
  readonly features?: Features;
}

export interface LoadedResource {
  /** Present even if the target is missing, because 403 comes before 404. */
  readonly access: Access | undefined;
  /** The parent records of the target, or the fault if one of them is missing. */
  readonly scope: Result<object>;
  readonly target: object | undefined;
  /** Further details of the fault if a required target is missing. */
  readonly missing?: FaultDetail;
  /** The target is absent and its name cannot be used again yet (`account/deleted-names.ts`). Only
   *  looked up for operations that create. */
  readonly isNameReserved?: boolean;
  /** The CORS rules of the service. */
  readonly cors: readonly CorsRule[];
}

/** How one kind of resource is loaded, and its fault codes. */
export interface Resource<A = Address> {
  /** `previous`: what the preceding operation of the same transaction loaded, if it addresses the
   *  same kind of resource in the same account. */
  readonly load: (
    view: RecordView,
    where: LoadRequest<A>,
    previous?: LoadedResource,
  ) => Awaitable<LoadedResource>;
  /** The table of the target's record. */
  readonly table: AnyTable | undefined;
  readonly keyOf: (scope: object, where: LoadRequest<A>) => unknown;
  /** Run before a write that may create its target reads and decides, if the target is absent. The
   *  decision gets the scope that it returns, and its effects come before those of the decision.
   *  Undefined if there is nothing to prepare. */
  readonly prepareCreation?: (
    scope: object,
    creation: CreationContext<A>,
  ) => Result<PreparedScope> | undefined;
  /** Completes every record of the target that a decision puts. */
  readonly completeRecord?: (record: object, creation: RecordCreation) => object;
  readonly missing: FaultCode;
  readonly present: FaultCode;
  /** Fault of every operation that would create a target with a reserved name. */
  readonly reserved?: FaultCode;
  readonly leaseKind: LeaseKind;
  /** Checks that apply to every operation on such a resource. */
  readonly guard?: (guarded: GuardContext<A>) => Result<void>;
}

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

export interface RecordCreation {
  readonly scope: object;
  readonly before: object | undefined;
  /** Object id of a caller with a bearer token. */
  readonly callerId: string | undefined;
}

export interface PreparedScope {
  readonly scope: object;
  readonly effects: readonly Effect[];
}

export interface GuardContext<A = Address> {
  readonly operation: Operation;
  readonly address: A;
  readonly target: object | undefined;
  readonly input: object;
  readonly features: Features;
  readonly now: Ticks;
}

/** A service: everything that listeners do is derived from this. */
export interface Service {
  readonly name: ServiceName;
  /** Another API to the records of the service; undefined for its own. */
  readonly api?: "dfs";
  /** Finds the resource that a decoded path below the account names. */
  readonly identify: (path: string, query: QueryReader) => Result<Address>;
  /** The same for a path of the account's static website. */
  readonly identifyPage?: (path: string) => Result<Address>;
  /** The names that a SAS is checked against: container, share, queue or table, and the path
   *  below. */
  readonly signedName: (address: Address) => SignedName;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly operations: readonly Operation[];
  /** Tables whose records refer to content. */
  readonly contentTables: readonly AnyTable[];
  /** Wire forms that differ from those of the other services. */
  readonly dialect?: Dialect;
  /** By kind of job; `<service>-account` removes all records of an account id. */
  readonly reclaimers: Readonly<Record<string, ReclaimHandler>>;
  /** Handlers of asynchronous copies, by kind of job. */
  readonly transfers?: Readonly<Record<string, TransferHandler>>;
}

export interface SignedName {
  readonly name?: string | undefined;
  readonly path?: string | undefined;
  readonly entity?: EntityKeys | undefined;
}

export interface QueryReader {
  get(name: string): string | undefined;
}

/** Reads a bounded part of what a job names and returns the records to remove, further jobs, and
 *  whether the job is done. Called again in a new transaction until it is. */
export type ReclaimHandler = (
  view: RecordView,
  scope: readonly (string | bigint)[],
) => Promise<Reclamation>;

export interface Reclamation {
  readonly removals?: readonly Removal[];
  /** Changes of commutative counters. */
  readonly counts?: readonly { readonly counter: Uint8Array; readonly delta: bigint }[];
  readonly jobs?: readonly ReclaimJob[];
  readonly done: boolean;
}

export interface Removal {
  /** Undefined for keys that are no record, such as counters. */
  readonly table?: AnyTable;
  readonly key: Uint8Array;
}

export function defineResource<A extends Address>(resource: Resource<A>): Resource {
  return resource as unknown as Resource;
}
