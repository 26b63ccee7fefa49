import { lockStateOf } from "../../file/filesystem/lock.ts";
import { cacheRead, type CachingGrant, type LockState } from "../../file/locks/lock-state.ts";
import type { Ticks } from "../../base/ticks.ts";
import { locks } from "../../file/records.ts";
import type { SmbServerState } from "../server.ts";
import { OplockLevel } from "../wire/protocol.ts";
import { encodeLeaseBreak, encodeOplockBreak } from "../wire/oplock-break.ts";
import type { FileHandle } from "./file-handle.ts";
import { sendNotification, connectionForLease } from "./notification.ts";

/** A caching grant of a client of this server, as last sent to that client. */
interface GrantHolder {
  readonly handles: Set<FileHandle>;
  held: number;
  /** Of the first handle of the lease; later handles do not change it. Undefined: an oplock. */
  readonly leaseVersion: 1 | 2 | undefined;
  /** The break that was notified and not acknowledged yet. */
  lastBreakAt: Ticks | undefined;
  /** The state that the client acknowledged, while the acknowledgement is being stored. */
  acknowledged?: number | undefined;
}

/** Break notifications of one file that are sent in one iteration of the event loop. */
const notificationsPerIterationMax = 256;

interface WatchedFile {
  readonly holders: Map<string, GrantHolder>;
  readonly unwatch: () => void;
  isChecking: boolean;
  changedAgain: boolean;
}

/**
 * Sends break notifications. An SMB or REST request on any process that breaks a grant only writes
 * this into the file's lock record; the server of the grant's holder watches that record.
 */
export class BreakNotifier {
  readonly #server: SmbServerState;
  readonly #files = new Map<string, WatchedFile>();
  readonly #keys = new Map<string, GrantHolder>();

  constructor(server: SmbServerState) {
    this.#server = server;
  }

  /** The handles that share a lease key; all of one file. */
  handlesOf(key: string): readonly FileHandle[] {
    return [...(this.#keys.get(key)?.handles ?? [])];
  }

  /** The lease version of the first handle, which all messages about the lease use. */
  leaseVersion(key: string): 1 | 2 | undefined {
    return this.#keys.get(key)?.leaseVersion;
  }

  add(handle: FileHandle, held: number): void {
    const { cache, reference } = handle;
    if (cache === undefined) return;
    const name = fileKeyOf(handle);
    const file = this.#files.get(name) ?? this.#watch(name, handle);
    const holder = file.holders.get(cache.key);
    if (holder === undefined) {
      const leaseVersion = cache.lease?.version;
      const first = { handles: new Set([handle]), held, leaseVersion, lastBreakAt: undefined };
      file.holders.set(cache.key, first);
      this.#keys.set(cache.key, first);
    } else {
      holder.handles.add(handle);
      if (holder.lastBreakAt === undefined) holder.held = held;
    }
    // The grant may have been broken between the commit that granted it and this watch.
    this.#check(file, reference);
  }

  remove(handle: FileHandle): void {
    const name = fileKeyOf(handle);
    const file = this.#files.get(name);
    const key = handle.cache?.key;
    const holder = key === undefined ? undefined : file?.holders.get(key);
    if (file === undefined || holder === undefined || key === undefined) return;
    holder.handles.delete(handle);
    if (holder.handles.size === 0) {
      file.holders.delete(key);
      this.#keys.delete(key);
    }
    if (file.holders.size > 0) return;
    file.unwatch();
    this.#files.delete(name);
  }

  /** Records the acknowledged state; returns the break that the client was last notified of. */
  beginAcknowledgement(handle: FileHandle, kept: number): Ticks | undefined {
    const holder = this.#holderOf(handle);
    if (holder !== undefined) holder.acknowledged = kept;
    return holder?.lastBreakAt;
  }

  /** Ends an acknowledgement of `acknowledgedBreak`; a later break may have been notified. */
  finishAcknowledgement(
    handle: FileHandle,
    acknowledgedBreak: Ticks | undefined,
    isAccepted: boolean,
  ): void {
    const holder = this.#holderOf(handle);
    if (holder === undefined) return;
    if (isAccepted && holder.lastBreakAt === acknowledgedBreak) {
      holder.held = holder.acknowledged ?? holder.held;
      holder.lastBreakAt = undefined;
    }
    holder.acknowledged = undefined;
  }

  #holderOf(handle: FileHandle): GrantHolder | undefined {
    const key = handle.cache?.key;
    return key === undefined ? undefined : this.#files.get(fileKeyOf(handle))?.holders.get(key);
  }

  #watch(name: string, { reference }: FileHandle): WatchedFile {
    const key = locks.key({ share: reference.share.id, id: reference.file });
    const { store } = this.#server.world.runtime;
    const file: WatchedFile = {
      holders: new Map(),
      unwatch: store.watch(key, () => this.#check(file, reference)),
      isChecking: false,
      changedAgain: false,
    };
    this.#files.set(name, file);
    return file;
  }

  #check(file: WatchedFile, reference: FileHandle["reference"]): void {
    file.changedAgain = true;
    if (file.isChecking) return;
    file.isChecking = true;
    const { runtime, log } = this.#server.world;
    const run = async (): Promise<void> => {
      while (file.changedAgain) {
        file.changedAgain = false;
        const state = await lockStateOf(runtime, reference);
        // The record is read again between portions, so that each sends the latest state.
        if (!this.#notifyHolders(file, state)) file.changedAgain = true;
      }
    };
    run()
      .catch((error: unknown) =>
        log.error({ err: error }, "reading locks for break notifications failed"),
      )
      .finally(() => {
        file.isChecking = false;
      });
  }

  /** Notifies up to a portion of the holders; false if some remain. */
  #notifyHolders({ holders }: WatchedFile, { caches }: LockState): boolean {
    const byKey = new Map(caches.map((cache) => [cache.key, cache]));
    let notified = 0;
    for (const [key, holder] of holders) {
      const cache = byKey.get(key);
      if (cache !== undefined && this.#notifyIfReduced(holder, cache)) notified += 1;
      if (notified >= notificationsPerIterationMax) return false;
    }
    return true;
  }

  /** Compares the stored grant with the one last sent. Returns whether a notification was sent. */
  #notifyIfReduced(holder: GrantHolder, cache: CachingGrant): boolean {
    const { breaking } = cache;
    if (breaking !== undefined) {
      if (breaking.askedAt === holder.lastBreakAt) return false;
      holder.lastBreakAt = breaking.askedAt;
      holder.held = cache.held;
      this.#notify(holder, cache, { next: breaking.to, needsAcknowledgement: true });
      return true;
    }
    // A break from read caching alone completes without an acknowledgement.
    const lastSent = holder.lastBreakAt === undefined ? holder.held : (holder.acknowledged ?? 0);
    const isLost = (lastSent & ~cache.held) !== 0;
    holder.held = lastSent;
    if (isLost) this.#notify(holder, cache, { next: cache.held, needsAcknowledgement: false });
    holder.held = cache.held;
    holder.lastBreakAt = undefined;
    return isLost;
  }

  #notify(
    { handles, held, leaseVersion }: GrantHolder,
    { epoch }: CachingGrant,
    {
      next,
      needsAcknowledgement,
    }: { readonly next: number; readonly needsAcknowledgement: boolean },
  ): void {
    const candidates = [...handles];
    const handle = candidates.find(
      ({ connection, session }) => session.connectionFor(connection) !== undefined,
    );
    if (handle === undefined) {
      this.#server.closeAbandoned(candidates);
      return;
    }
    const { session, connection } = handle;
    const lease = handle.cache?.lease;
    const target =
      lease === undefined ? session.connectionFor(connection) : connectionForLease(handle);
    if (target === undefined) return;
    if (lease === undefined) {
      const level = (next & cacheRead) === 0 ? OplockLevel.none : OplockLevel.shared;
      sendNotification(handle, target, encodeOplockBreak(level, handle.id));
      return;
    }
    const leaseEpoch = leaseVersion === 2 ? epoch : 0;
    const message = {
      key: lease.key,
      current: held,
      next,
      epoch: leaseEpoch,
      needsAcknowledgement,
    };
    sendNotification(handle, target, encodeLeaseBreak(message));
  }
}

/** Identifies the file of a handle among all shares. */
export function fileKeyOf({ reference }: FileHandle): string {
  return `${reference.share.id}:${reference.file}`;
}
