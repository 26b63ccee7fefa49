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
import type { StoredPolicy } from "../protocol/permission.ts";
import type { Result } from "../protocol/result.ts";
import type { AnyTable } from "../encoding/table.ts";
import type { Ticks } from "../base/ticks.ts";
import type { TransferHandler } from "./transfer-handler.ts";
import type { RecordView } from "./view.ts";

/** What the owner of a resource decided about others' access to it. */
export interface Access {
  readonly policies: readonly StoredPolicy[];
  readonly publicAccess?: "container" | "blob";
}

export interface LoadRequest<A = Address> {
  readonly account: string;
  readonly address: A;
  /** The parsed parameters of the operation, where they bear on what the address means. */
  readonly input?: object;
  /** What is about to be done there, if anything. */
  readonly operation?: Operation;
  readonly features?: Features;
}

export interface LoadedResource {
  /** Known even if the target is not there, because a refusal comes before a 404. */
  readonly access: Access | undefined;
  /** What surrounds the target, or why there is no such place. */
  readonly scope: Result<object>;
  readonly target: object | undefined;
  /** What else the fault says if the target is missing and has to exist. */
  readonly missing?: FaultDetail;
  /** The target is absent and its name cannot be used again yet (`account/deleted-names.ts`). Only
   *  looked up for operations that create. */
  readonly isNameReserved?: boolean;
  /** The service's rules for pages of other origins. */
  readonly cors: readonly CorsRule[];
}

/** How one kind of resource is found in the key space, and what its absence is called. */
export interface Resource<A = Address> {
  /** `beside` is what the operation before found, of those that share a transaction: on the same
   *  kind of resource, in the same account. */
  readonly load: (
    view: RecordView,
    where: LoadRequest<A>,
    previous?: LoadedResource,
  ) => Awaitable<LoadedResource>;
  /** Where the target's record is written. */
  readonly table: AnyTable | undefined;
  readonly keyOf: (scope: object, where: LoadRequest<A>) => unknown;
  /** Run before a write that may create its target reads and decides, if the target is absent. The
   *  decision gets the scope that it returns, and its effects come before those of the decision.
   *  Undefined if there is nothing to prepare. */
  readonly prepareCreation?: (
    scope: object,
    creation: CreationContext<A>,
  ) => Result<PreparedScope> | undefined;
  readonly missing: FaultCode;
  readonly present: FaultCode;
  /** Fault of every operation that would create a target with a reserved name. */
  readonly reserved?: FaultCode;
  readonly leaseKind: LeaseKind;
  /** What holds for every operation on such a resource, so that none can forget it. */
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

/** A service as the doors see it: everything they do is derived from this. */
export interface Service {
  readonly name: ServiceName;
  /** Which resource a decoded path below the account names. */
  readonly identify: (path: string, query: QueryReader) => Result<Address>;
  /** The same for a path of the account's website, if the service has such a thing. */
  readonly identifyPage?: (path: string) => Result<Address>;
  /** What signatures say of an address: the container, share, queue or table, and what is below. */
  readonly signedName: (address: Address) => SignedName;
  readonly resources: Readonly<Record<string, Resource>>;
  readonly operations: readonly Operation[];
  /** Tables whose records refer to stored bytes. */
  readonly contentTables: readonly AnyTable[];
  /** Where its wire forms differ from those the others share. */
  readonly dialect?: Dialect;
  /** By the kind of job; `<service>-account` takes down all that an account id held. */
  readonly reclaimers: Readonly<Record<string, ReclaimHandler>>;
  /** What becomes of bytes that were fetched after the answer, by the kind of job. */
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

/** Looks at a bounded part of what a job names: which records go, which jobs follow, and whether
 *  the job itself is done. Runs in a transaction of its own, again and again until it is. */
export type ReclaimHandler = (
  view: RecordView,
  scope: readonly (string | bigint)[],
) => Promise<Reclamation>;

export interface Reclamation {
  readonly removals?: readonly Removal[];
  /** What commutative counters lose by it. */
  readonly counts?: readonly { readonly counter: Uint8Array; readonly delta: bigint }[];
  readonly jobs?: readonly ReclaimJob[];
  readonly done: boolean;
}

export interface Removal {
  /** Left out for keys that are no record, such as counters. */
  readonly table?: AnyTable;
  readonly key: Uint8Array;
}

export function defineResource<A extends Address>(resource: Resource<A>): Resource {
  return resource as unknown as Resource;
}
