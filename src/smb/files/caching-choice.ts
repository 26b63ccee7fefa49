import {
  cacheHandle,
  cacheRead,
  cacheWrite,
  type LockState,
  oplockKey,
} from "../../file/locks/lock-state.ts";
import type { CachingRequest } from "../../file/locks/caching.ts";
import type { Connection } from "../connection.ts";
import type { TreeRequest } from "../request.ts";
import { Status, type NtStatus } from "../status.ts";
import {
  contextData,
  ContextName,
  decodeLease,
  encodeLease,
  leaseIn,
  type CreateContext,
  type CreateRequest,
  type LeaseContext,
} from "../wire/create.ts";
import { Dialect, OplockLevel } from "../wire/protocol.ts";
import { CreateOption } from "./create-rules.ts";
import type { HandleCachingGrant } from "./file-handle.ts";

/** Caching grants (oplocks and SMB leases) in CREATE and in reconnects of durable handles: decodes
 *  what a client requests, and encodes what it is granted. */

/** The oplock or SMB lease that a CREATE requests; `lease` is undefined for an oplock. */
export interface CachingChoice {
  readonly request: CachingRequest;
  readonly lease: LeaseContext | undefined;
}

/** A choice that requests no further rights: the grant of an existing handle as it is now. */
export function currentGrant(key: string, lease: LeaseContext | undefined): CachingChoice {
  return { request: { key, wanted: 0 }, lease };
}

/** The caching rights (read, write, handle) of an oplock level. */
const bitsByLevel: Readonly<Record<number, number>> = {
  [OplockLevel.shared]: cacheRead,
  [OplockLevel.exclusive]: cacheRead | cacheWrite,
  [OplockLevel.batch]: cacheRead | cacheWrite | cacheHandle,
};

/** The caching rights of an oplock level; 0 for none. */
export function cacheBitsOf(level: number): number {
  return bitsByLevel[level] ?? 0;
}

/** The rights, and the flags of a lease context ([MS-SMB2] 2.2.14.2.10, 2.2.14.2.11). */
const leaseBits = cacheRead | cacheWrite | cacheHandle;
const breakInProgress = 2;
const parentKeySet = 4;

/** The caching that a CREATE requests for its handle, whose persistent id is `open`. Undefined if
 *  it requests none, or that of a directory, which is not granted; a status if it is invalid. */
export function chooseCaching(
  { connection }: TreeRequest,
  create: CreateRequest,
  open: bigint,
): CachingChoice | NtStatus | undefined {
  const isDirectory = (create.options & CreateOption.directory) !== 0;
  if (create.oplock !== OplockLevel.lease) {
    const requested = bitsByLevel[create.oplock];
    if (requested === undefined || isDirectory) return undefined;
    return { request: { key: oplockKey(open), wanted: requested }, lease: undefined };
  }
  const context = contextData(create, ContextName.lease);
  if (context === undefined || connection.dialect < Dialect.v210) return undefined;
  const lease = decodeLease(context);
  if (lease === undefined) return Status.invalidParameter;
  if (isDirectory) return undefined;
  const key = leaseKeyOf(connection, lease.key);
  const requested = isValidState(lease.state) ? lease.state : 0;
  return { request: { key, wanted: requested, epoch: lease.epoch }, lease };
}

/** Key of the caching grant of an SMB lease. A lease key identifies a lease among all connections
 *  with the same ClientGuid ([MS-SMB2] 3.3.1.11). */
export function leaseKeyOf({ clientId }: Connection, key: Buffer): string {
  return `lease:${clientId}:${key.toString("hex")}`;
}

/** The SMB lease that a CREATE requests; undefined if it requests none. */
export function requestedLease(create: CreateRequest): LeaseContext | undefined {
  return create.oplock === OplockLevel.lease ? leaseIn(create) : undefined;
}

/** Id of the file that already uses the lease key of a CREATE; undefined if the key is new. */
export function leasedFile({ connection }: TreeRequest, create: CreateRequest): bigint | undefined {
  const lease = requestedLease(create);
  if (lease === undefined) return undefined;
  const [handle] = connection.server.breakNotifier.handlesOf(leaseKeyOf(connection, lease.key));
  return handle?.reference.file;
}

/** Valid lease states include read caching, or are empty ([MS-SMB2] 2.2.13.2.8). */
function isValidState(state: number): boolean {
  return (state & ~leaseBits) === 0 && ((state & cacheRead) !== 0 || state === 0);
}

/** The oplock or SMB lease in a CREATE response. */
interface GrantedCaching {
  readonly level: number;
  readonly held: number;
  readonly grant: HandleCachingGrant | undefined;
  readonly context: CreateContext | undefined;
}

/** Reads the granted caching rights from the lock state, and encodes them for the CREATE response.
 *  `version` is that of the lease context (1 or 2, [MS-SMB2] 2.2.13.2.8 and 2.2.13.2.10) with which
 *  an existing lease was requested first; it replaces the version in this request. */
export function grantedCaching(
  choice: CachingChoice | undefined,
  state: LockState,
  version?: 1 | 2,
): GrantedCaching {
  if (choice === undefined) return nothing;
  const { request } = choice;
  const lease = choice.lease && { ...choice.lease, version: version ?? choice.lease.version };
  const cache = state.caches.find(({ key }) => key === request.key);
  const held = cache?.held ?? 0;
  const holding = { key: request.key, lease };
  if (lease === undefined) {
    return { level: levelOf(held), held, grant: holding, context: undefined };
  }
  const flags =
    (cache?.breaking === undefined ? 0 : breakInProgress) |
    (lease.version === 2 ? lease.flags & parentKeySet : 0);
  const epoch = cache?.epoch ?? lease.epoch;
  const context = encodeLease({ ...lease, state: held, flags, epoch });
  return { level: OplockLevel.lease, held, grant: holding, context };
}

const nothing: GrantedCaching = {
  level: OplockLevel.none,
  held: 0,
  grant: undefined,
  context: undefined,
};

/** The highest oplock level whose caching rights are all in `held`. */
export function levelOf(held: number): number {
  if ((held & cacheRead) === 0) return OplockLevel.none;
  if ((held & cacheWrite) === 0) return OplockLevel.shared;
  return (held & cacheHandle) === 0 ? OplockLevel.exclusive : OplockLevel.batch;
}
