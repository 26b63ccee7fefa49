import { lockStateOf } from "../../file/filesystem/lock.ts";
import {
  cacheHandle,
  cacheRead,
  type CachingGrant,
  type LockState,
} from "../../file/locks/lock-state.ts";
import type { Ticks } from "../../base/ticks.ts";
import { locks } from "../../file/records.ts";
import type { SmbServerState } from "../server.ts";
import { Command, notificationMessageId, OplockLevel } from "../wire/protocol.ts";
import { encodeLeaseBreak, encodeOplockBreak } from "../wire/io.ts";
import { isTemporary } from "../../store/store.ts";
import type { FileHandle } from "./file-handle.ts";
import { newResponse } from "../request.ts";
import type { Connection } from "../connection.ts";
import { encodeHeader, unsolicitedHeader } from "../wire/header.ts";

/** Notifies clients that a caching grant (an oplock or SMB lease) is being broken, so that they
 *  write back what they cache and stop caching ([MS-SMB2] 3.3.4.6, 3.3.4.7). */

/** The connection for the notification of an SMB lease break: the oldest one of the client, or one
 *  of the session of the handle if the session requires encryption, whose key no other connection
 *  has. */
function connectionForLease({
  connection: preferred,
  session,
}: FileHandle): Connection | undefined {
  const connection = session.connectionFor(preferred);
  if (connection === undefined || session.requiresEncryption) return connection;
  return connection.server.clientConnections.oldestAuthenticated(connection) ?? connection;
}

/** Sends a break notification. It is not signed, because its MessageId is always -1. */
function sendNotification({ session }: FileHandle, connection: Connection, body: Buffer): void {
  const { message } = newResponse(body);
  const { encryptor, requiresEncryption } = session;
  const { oplockBreak: command } = Command;
  encodeHeader(message, { ...unsolicitedHeader, command, messageId: notificationMessageId });
  const mustEncrypt = encryptor !== undefined && requiresEncryption;
  connection.send(mustEncrypt ? encryptor.encrypt([message]) : [message]);
}

/** A caching grant of a client of this process, with the rights of which the client knows: the
 *  stored grant may have been reduced before the client is notified. */
interface GrantHolder {
  readonly handles: Set<FileHandle>;
  /** The caching rights (read, write, handle) of which the client knows. */
  held: number;
  /** Version of the SMB lease, set by its first handle; undefined for an oplock. */
  readonly leaseVersion: 1 | 2 | undefined;
  /** Start of the break that the client was notified of and has not acknowledged; undefined if none
   *  is running. */
  lastBreakAt: Ticks | undefined;
  /** The caching rights that the client keeps, while its acknowledgement is being stored. */
  acknowledged?: number | undefined;
}

/** Most clients of one file that are notified in one iteration of the event loop. */
const notificationsPerIterationMax = 256;

/** Pause before the lock record of a file is read again after the store has failed. */
const retryMilliseconds = 500;

/** A file for which clients of this process have caching grants: `holders`, by the key of the
 *  grant. One check of its lock record runs at a time; `changedAgain` requests another after it. */
interface WatchedFile {
  readonly holders: Map<string, GrantHolder>;
  readonly unwatch: () => void;
  isChecking: boolean;
  changedAgain: boolean;
}

/** Sends break notifications. A request on any process that breaks a grant only stores the break in
 *  the lock record of the file. The process whose client has the grant watches that record and
 *  sends the notification. */
export class BreakNotifier {
  readonly #server: SmbServerState;
  readonly #files = new Map<string, WatchedFile>();
  readonly #keys = new Map<string, GrantHolder>();
  #sentCount = 0;

  /** Number of notifications sent since the start of the server, for the administration API. */
  get sentCount(): number {
    return this.#sentCount;
  }

  constructor(server: SmbServerState) {
    this.#server = server;
  }

  /** The handles that share the caching grant with this key; all are of one file. */
  handlesOf(key: string): readonly FileHandle[] {
    return [...(this.#keys.get(key)?.handles ?? [])];
  }

  /** Version of an SMB lease, set by its first handle; undefined if no handle has it. */
  leaseVersion(key: string): 1 | 2 | undefined {
    return this.#keys.get(key)?.leaseVersion;
  }

  /** Registers a handle with a caching grant; `held` are the granted rights. Starts watching the
   *  lock record of its file. */
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

  /** Called when a handle is closed or replaced. Ends the watch with the last grant of its file. */
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

  /** Called before an acknowledgement is stored. Returns the start of the break that the client was
   *  last notified of, for `finishAcknowledgement`. */
  beginAcknowledgement(handle: FileHandle, kept: number): Ticks | undefined {
    const holder = this.#holderOf(handle);
    if (holder !== undefined) holder.acknowledged = kept;
    return holder?.lastBreakAt;
  }

  /** Called after the acknowledgement was stored or rejected. If the client was notified of another
   *  break since it sent the acknowledgement, the other break stays unacknowledged. */
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

  /** Whether the client has handle caching, and was not notified of a break of it. Only then does a
   *  durable handle stay open without a connection (`DurableHandles.keep`). */
  cachesHandle(handle: FileHandle): boolean {
    const holder = this.#holderOf(handle);
    if (holder === undefined || holder.lastBreakAt !== undefined) return false;
    return holder.acknowledged === undefined && (holder.held & cacheHandle) !== 0;
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
    const { runtime, log, clock } = this.#server.world;
    const run = async (): Promise<void> => {
      try {
        while (file.changedAgain) {
          file.changedAgain = false;
          const state = await lockStateOf(runtime, reference);
          // Other clients are still to be notified, of the state that the record has by then.
          if (!this.#notifyHolders(file, state)) file.changedAgain = true;
        }
      } finally {
        // No `await` may be between the condition of the loop and this line: a change in between
        // would be lost.
        file.isChecking = false;
      }
    };
    run().catch((error: unknown) => {
      if (!isTemporary(error)) {
        log.error({ err: error }, "reading locks for break notifications failed");
        return;
      }
      // The client must still be notified: until then it writes into a cache that it has lost.
      log.warn({ err: error }, `reading locks failed; retrying in ${retryMilliseconds} ms`);
      clock.after(retryMilliseconds, () => {
        if (file.holders.size > 0) this.#check(file, reference);
      });
    });
  }

  /** Notifies at most `notificationsPerIterationMax` clients. Returns false if others may need a
   *  notification, too. */
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

  /** Sends a notification if the stored grant has fewer rights than the client knows of, and
   *  returns whether it did. */
  #notifyIfReduced(holder: GrantHolder, cache: CachingGrant): boolean {
    const { breaking } = cache;
    if (breaking !== undefined) {
      if (breaking.askedAt === holder.lastBreakAt) return false;
      holder.lastBreakAt = breaking.askedAt;
      holder.held = cache.held;
      this.#notify(holder, cache, { next: breaking.to, needsAcknowledgement: true });
      return true;
    }
    // No break is stored. If the client was notified of one, it has ended: the client keeps what it
    // is acknowledging or, after a timeout, nothing. Otherwise read caching may have been removed,
    // which needs no acknowledgement.
    const lastSent = holder.lastBreakAt === undefined ? holder.held : (holder.acknowledged ?? 0);
    const isLost = (lastSent & ~cache.held) !== 0;
    holder.held = lastSent;
    if (isLost) this.#notify(holder, cache, { next: cache.held, needsAcknowledgement: false });
    holder.held = cache.held;
    holder.lastBreakAt = undefined;
    return isLost;
  }

  /** Notifies the client that it keeps only the rights `next`. If it has no connection any more,
   *  its handles are closed instead. */
  #notify(
    { handles, held, leaseVersion }: GrantHolder,
    { epoch }: CachingGrant,
    { next, needsAcknowledgement }: { next: number; needsAcknowledgement: boolean },
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
    this.#sentCount += 1;
    if (lease === undefined) {
      const level = (next & cacheRead) === 0 ? OplockLevel.none : OplockLevel.shared;
      sendNotification(handle, target, encodeOplockBreak(level, handle.id));
      return;
    }
    const { key } = lease;
    const change = { current: held, next, epoch: leaseVersion === 2 ? epoch : 0 };
    sendNotification(handle, target, encodeLeaseBreak({ key, ...change, needsAcknowledgement }));
  }
}

/** A key that identifies the file of a handle among all shares. */
export function fileKeyOf({ reference }: FileHandle): string {
  return `${reference.share.id}:${reference.file}`;
}
