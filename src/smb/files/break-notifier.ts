import { lockStateOf } from "../../file/filesystem/lock.ts";
import { cacheRead, type CachingGrant, type LockState } from "../../file/locks/lock-state.ts";
import type { Ticks } from "../../base/ticks.ts";
import { locks } from "../../file/records.ts";
import type { SmbServerState } from "../server.ts";
import { OplockLevel } from "../wire/protocol.ts";
import { encodeLeaseBreak, encodeOplockBreak } from "../wire/oplock-break.ts";
import type { FileHandle } from "./file-handle.ts";
import { sendNotification, connectionForLease } from "./notification.ts";

/** What this server last knew of a cache that one of its clients holds. */
interface GrantHolder {
  readonly handles: Set<FileHandle>;
  held: number;
  /** Of the lease that came first; later handles that share it change nothing about it. */
  readonly leaseVersion: 1 | 2 | undefined;
  /** The break that was sent and not answered yet. */
  lastBreakAt: Ticks | undefined;
  /** What the client answers that it keeps, while that is being written down. */
  acknowledged?: number | undefined;
}

/** Break notifications of one file that are sent in one iteration of the event loop. */
const toldTogetherMax = 256;

interface WatchedFile {
  readonly holders: Map<string, GrantHolder>;
  readonly unwatch: () => void;
  isChecking: boolean;
  changedAgain: boolean;
}

/**
 * Tells clients when what they cache is taken from them. Whoever takes it, SMB, REST or another
 * process, only writes it into the file's locks; this is where the holders' own server hears of it.
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

  /** The form of the messages about a lease is that of the handle that began it. */
  leaseVersion(key: string): 1 | 2 | undefined {
    return this.#keys.get(key)?.leaseVersion;
  }

  add(handle: FileHandle, held: number): void {
    const { cache, place } = handle;
    if (cache === undefined) return;
    const name = fileKeyOf(handle);
    const file = this.#files.get(name) ?? this.#watch(name, handle);
    const holder = file.holders.get(cache.key);
    if (holder === undefined) {
      const leaseVersion = cache.lease?.version;
      const first = { handles: new Set([handle]), held, leaseVersion, askedAt: undefined };
      file.holders.set(cache.key, first);
      this.#keys.set(cache.key, first);
    } else {
      holder.handles.add(handle);
      if (holder.lastBreakAt === undefined) holder.held = held;
    }
    // Somebody may have taken it between the commit that gave it and this watch.
    this.#check(file, place);
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

  /** The client is about to keep this much; returns which break it was last told of. */
  beginAcknowledgement(handle: FileHandle, kept: number): Ticks | undefined {
    const holder = this.#holderOf(handle);
    if (holder !== undefined) holder.acknowledged = kept;
    return holder?.lastBreakAt;
  }

  /** The answer to that break was taken, or not; a later one may be on its way already. */
  finishAcknowledgement(handle: FileHandle, told: Ticks | undefined, isTaken: boolean): void {
    const holder = this.#holderOf(handle);
    if (holder === undefined) return;
    if (isTaken && holder.lastBreakAt === told) {
      holder.held = holder.acknowledged ?? holder.held;
      holder.lastBreakAt = undefined;
    }
    holder.acknowledged = undefined;
  }

  #holderOf(handle: FileHandle): GrantHolder | undefined {
    const key = handle.cache?.key;
    return key === undefined ? undefined : this.#files.get(fileKeyOf(handle))?.holders.get(key);
  }

  #watch(name: string, { place }: FileHandle): WatchedFile {
    const key = locks.key({ share: place.share.id, id: place.file });
    const { store } = this.#server.world.runtime;
    const file: WatchedFile = {
      holders: new Map(),
      unwatch: store.watch(key, () => this.#check(file, place)),
      isChecking: false,
      changedAgain: false,
    };
    this.#files.set(name, file);
    return file;
  }

  #check(file: WatchedFile, place: FileHandle["place"]): void {
    file.changedAgain = true;
    if (file.isChecking) return;
    file.isChecking = true;
    const { runtime, log } = this.#server.world;
    const run = async (): Promise<void> => {
      while (file.changedAgain) {
        file.changedAgain = false;
        const state = await lockStateOf(runtime, place);
        // Thousands of holders are notified in portions, each with the state at that time.
        if (!this.#tellSome(file, state)) file.changedAgain = true;
      }
    };
    run()
      .catch((error: unknown) => log.error({ err: error }, "locks could not be looked at"))
      .finally(() => {
        file.isChecking = false;
      });
  }

  /** False if some were not told yet. */
  #tellSome({ holders }: WatchedFile, { caches }: LockState): boolean {
    const byKey = new Map(caches.map((cache) => [cache.key, cache]));
    let told = 0;
    for (const [key, holder] of holders) {
      const cache = byKey.get(key);
      if (cache !== undefined && this.#tell(holder, cache)) told += 1;
      if (told >= toldTogetherMax) return false;
    }
    return true;
  }

  /** Whether there was something to tell. */
  #tell(holder: GrantHolder, cache: CachingGrant): boolean {
    const { breaking } = cache;
    if (breaking !== undefined) {
      if (breaking.askedAt === holder.lastBreakAt) return false;
      holder.lastBreakAt = breaking.askedAt;
      holder.held = cache.held;
      this.#notify(holder, cache, { next: breaking.to, needsAnswer: true });
      return true;
    }
    // A cache that only read is simply over; nobody waits for an answer.
    const known = holder.lastBreakAt === undefined ? holder.held : (holder.acknowledged ?? 0);
    const isLost = (known & ~cache.held) !== 0;
    holder.held = known;
    if (isLost) this.#notify(holder, cache, { next: cache.held, needsAnswer: false });
    holder.held = cache.held;
    holder.lastBreakAt = undefined;
    return isLost;
  }

  #notify(
    { handles, held, leaseVersion }: GrantHolder,
    { epoch }: CachingGrant,
    { next, needsAnswer }: { readonly next: number; readonly needsAnswer: boolean },
  ): void {
    const all = [...handles];
    const handle = all.find(
      ({ connection, session }) => session.connectionFor(connection) !== undefined,
    );
    if (handle === undefined) {
      this.#server.closeAbandoned(all);
      return;
    }
    const { session, connection } = handle;
    const lease = handle.cache?.lease;
    const way = lease === undefined ? session.connectionFor(connection) : connectionForLease(handle);
    if (way === undefined) return;
    if (lease === undefined) {
      const level = (next & cacheRead) === 0 ? OplockLevel.none : OplockLevel.shared;
      sendNotification(handle, way, encodeOplockBreak(level, handle.id));
      return;
    }
    const counted = leaseVersion === 2 ? epoch : 0;
    const message = { key: lease.key, current: held, next, epoch: counted, needsAnswer };
    sendNotification(handle, way, encodeLeaseBreak(message));
  }
}

export function fileKeyOf({ place }: FileHandle): string {
  return `${place.share.id}:${place.file}`;
}
