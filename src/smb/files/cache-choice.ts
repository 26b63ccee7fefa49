import { cacheHandle, cacheRead, cacheWrite, type LockState } from "../../file/locks/lock-state.ts";
import type { CacheRequest } from "../../file/locks/caching.ts";
import { oplockKey } from "../../file/locks/oplock-keys.ts";
import type { Connection } from "../connection.ts";
import type { TreeRequest } from "../request.ts";
import { Status, type NtStatus } from "../status.ts";
import type { CreateRequest } from "../wire/create.ts";
import {
  ContextName,
  decodeLease,
  encodeLease,
  type CreateContext,
  type LeaseContext,
} from "../wire/create-contexts.ts";
import { Dialect, OplockLevel } from "../wire/protocol.ts";
import { CreateOption } from "./create-rules.ts";
import type { CacheHolding } from "./file-handle.ts";

/** What a client wants to cache, and under which name the file's locks know it. */
export interface CacheChoice {
  readonly request: CacheRequest;
  readonly lease: LeaseContext | undefined;
}

const wantedByLevel: Readonly<Record<number, number>> = {
  [OplockLevel.shared]: cacheRead,
  [OplockLevel.exclusive]: cacheRead | cacheWrite,
  [OplockLevel.batch]: cacheRead | cacheWrite | cacheHandle,
};

/** The cache bits that a requested oplock level asks for. */
export function cacheBitsOf(level: number): number {
  return wantedByLevel[level] ?? 0;
}

const leaseBits = cacheRead | cacheWrite | cacheHandle;
const breakInProgress = 2;
const parentKeySet = 4;

export function chooseCache(
  { connection }: TreeRequest,
  asked: CreateRequest,
  open: bigint,
): CacheChoice | NtStatus | undefined {
  const isDirectory = (asked.options & CreateOption.directory) !== 0;
  if (asked.oplock !== OplockLevel.lease) {
    const wanted = wantedByLevel[asked.oplock];
    if (wanted === undefined || isDirectory) return undefined;
    return { request: { key: oplockKey(open), wanted }, lease: undefined };
  }
  const context = asked.contexts.find(({ name }) => name === ContextName.lease);
  if (context === undefined || connection.dialect < Dialect.v210) return undefined;
  const lease = decodeLease(context.data);
  if (lease === undefined) return Status.invalidParameter;
  if (isDirectory) return undefined;
  const key = leaseKeyOf(connection, lease.key);
  const wanted = isLegal(lease.state) ? lease.state : 0;
  return { request: { key, wanted, epoch: lease.epoch }, lease };
}

/** Lease keys belong to a client, not to one of its connections. */
export function leaseKeyOf({ negotiated }: Connection, key: Buffer): string {
  return `lease:${negotiated?.clientGuid.toString("hex") ?? ""}:${key.toString("hex")}`;
}

/** The file that the lease key of a request is in use for already. */
export function leasedFile(
  { connection }: TreeRequest,
  { contexts, oplock }: CreateRequest,
): bigint | undefined {
  if (oplock !== OplockLevel.lease) return undefined;
  const context = contexts.find(({ name }) => name === ContextName.lease);
  const lease = context && decodeLease(context.data);
  if (lease === undefined) return undefined;
  const [handle] = connection.server.breakNotifier.handlesOf(leaseKeyOf(connection, lease.key));
  return handle?.place.file;
}

/** Only states that read can do more, and write caching alone is not one of them. */
function isLegal(state: number): boolean {
  return (state & ~leaseBits) === 0 && ((state & cacheRead) !== 0 || state === 0);
}

export interface GrantedCache {
  readonly level: number;
  readonly held: number;
  readonly holding: CacheHolding | undefined;
  readonly context: CreateContext | undefined;
}

export function grantedCache(
  choice: CacheChoice | undefined,
  state: LockState,
  version?: 1 | 2,
): GrantedCache {
  if (choice === undefined) return nothing;
  const { request } = choice;
  const lease = choice.lease && { ...choice.lease, version: version ?? choice.lease.version };
  const cache = state.caches.find(({ key }) => key === request.key);
  const held = cache?.held ?? 0;
  const holding = { key: request.key, lease };
  if (lease === undefined) {
    return { level: levelOf(held), held, holding, context: undefined };
  }
  const flags =
    (cache?.breaking === undefined ? 0 : breakInProgress) |
    (lease.version === 2 ? lease.flags & parentKeySet : 0);
  const epoch = cache?.epoch ?? lease.epoch;
  const context = encodeLease({ ...lease, state: held, flags, epoch });
  return { level: OplockLevel.lease, held, holding, context };
}

const nothing: GrantedCache = {
  level: OplockLevel.none,
  held: 0,
  holding: undefined,
  context: undefined,
};

export function levelOf(held: number): number {
  if ((held & cacheRead) === 0) return OplockLevel.none;
  if ((held & cacheWrite) === 0) return OplockLevel.shared;
  return (held & cacheHandle) === 0 ? OplockLevel.exclusive : OplockLevel.batch;
}
