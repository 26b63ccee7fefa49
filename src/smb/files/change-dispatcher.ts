import type { Clock } from "../../base/world.ts";
import {
  ancestorsOf,
  readNotices,
  unwatchShare,
  watchShare,
  type Ancestor,
  type DatedNotice,
} from "../../file/filesystem/watching.ts";
import type { NodeRecord } from "../../file/records.ts";
import type { SmbServerState } from "../server.ts";
import { Status } from "../status.ts";
import {
  ChangeAction,
  ChangeFilter,
  type DirectoryWatch,
  type ReportedChange,
} from "./directory-watch.ts";
import { notices, type NodeAspect } from "../../file/notices.ts";
import { isTemporary } from "../../store/store.ts";

/** Reports changes of files to the CHANGE_NOTIFY requests of SMB clients. Operations of SMB clients
 *  of this process publish their changes here. Changes made through REST or by other processes
 *  arrive as stored notices (`file/notices.ts`). */

/** Repeats work until the store is available; undefined if `isWanted` becomes false before. */
type Insist = <T>(isWanted: () => boolean, work: () => Promise<T>) => Promise<T | undefined>;
type Publish = (share: bigint, changes: readonly FileChange[]) => void;

/** Pause before a failed access of the store is tried again. */
const retryMilliseconds = 500;

/** Whether and how this process receives the notices of one share. */
interface ShareSubscription {
  /** Whether this process has watches of the share. */
  isWanted: boolean;
  /** The last subscribing or unsubscribing of the share; the next one starts after it. */
  queued: Promise<void>;
  unwatch: () => void;
  isReading: boolean;
  hasMore: boolean;
}

/** Receives the changes that REST and other processes make in the shares that clients of this
 *  process watch: stored notices, which it reads and publishes. */
class RemoteChanges {
  readonly #server: SmbServerState;
  readonly #insist: Insist;
  readonly #publish: Publish;
  readonly #shares = new Map<bigint, ShareSubscription>();

  constructor(server: SmbServerState, insist: Insist, publish: Publish) {
    this.#server = server;
    this.#insist = insist;
    this.#publish = publish;
  }

  subscribe(share: bigint): void {
    const { runtime } = this.#server.world;
    const { owner } = this.#server;
    const known = this.#shares.get(share);
    const subscription: ShareSubscription = known ?? {
      isWanted: true,
      queued: Promise.resolve(),
      unwatch: () => {},
      isReading: false,
      hasMore: false,
    };
    this.#shares.set(share, subscription);
    subscription.isWanted = true;
    this.#enqueue(subscription, async () => {
      const isWanted = (): boolean => subscription.isWanted;
      await this.#insist(isWanted, () => watchShare(runtime, share, owner));
      const prefix = notices.prefix([share, owner]);
      subscription.unwatch = runtime.store.watch(prefix, () => this.#read(share, subscription));
    });
  }

  unsubscribe(share: bigint): void {
    const subscription = this.#shares.get(share);
    if (subscription === undefined) return;
    const { runtime } = this.#server.world;
    subscription.isWanted = false;
    this.#enqueue(subscription, async () => {
      subscription.unwatch();
      // Ends the watch also in the store; otherwise other processes would store notices that no
      // process reads.
      const isUnwanted = (): boolean => !subscription.isWanted;
      await this.#insist(isUnwanted, () => unwatchShare(runtime, share, this.#server.owner));
    });
  }

  /** Resolves when the subscription is stored: every later change will be received. */
  async whenSubscribed(share: bigint): Promise<void> {
    await this.#shares.get(share)?.queued;
  }

  #enqueue(subscription: ShareSubscription, work: () => Promise<void>): void {
    const next = subscription.queued.then(work);
    subscription.queued = next.catch(() => {});
    void this.#server.backgroundWork.add(next);
  }

  #read(share: bigint, subscription: ShareSubscription): void {
    subscription.hasMore = true;
    if (subscription.isReading) return;
    subscription.isReading = true;
    const { runtime } = this.#server.world;
    const run = async (): Promise<void> => {
      try {
        // Reads until no notice is left: each call returns the oldest notices and deletes them.
        while (subscription.hasMore) {
          subscription.hasMore = false;
          const isWanted = (): boolean => subscription.isWanted;
          const read = () => readNotices(runtime, share, this.#server.owner);
          const received = (await this.#insist(isWanted, read)) ?? [];
          if (received.length > 0) subscription.hasMore = true;
          this.#publish(share, changesOf(received));
        }
      } finally {
        subscription.isReading = false;
      }
    };
    void this.#server.backgroundWork.add(run());
  }
}

/** The filters that report a change of this aspect of a file. */
const filters: Readonly<Record<NodeAspect, number>> = {
  attributes: ChangeFilter.attributes,
  size: ChangeFilter.size,
  lastWrite: ChangeFilter.lastWrite,
  created: ChangeFilter.creation,
  security: ChangeFilter.security,
  other: ChangeFilter.attributes | ChangeFilter.lastWrite,
};

/** Converts stored notices. `added` and `removed` about one file in one commit are a move. */
function changesOf(received: readonly DatedNotice[]): readonly FileChange[] {
  const changes: FileChange[] = [];
  for (const [index, notice] of received.entries()) {
    const { action, parent, name } = notice;
    const movedTo = otherHalfOfMove(received[index - 1], notice);
    if (action === "modified") {
      const filter = notice.aspects.reduce((bits, aspect) => bits | filters[aspect], 0);
      changes.push({ action: ChangeAction.modified, parent, name, filter });
    } else if (movedTo !== undefined) {
      changes.pop();
      changes.push(...moveChanges(notice, movedTo));
    } else {
      const nameAction = action === "added" ? ChangeAction.added : ChangeAction.removed;
      changes.push(nameChange(nameAction, notice));
    }
  }
  return changes;
}

/** The `added` notice of a move whose `removed` notice is given; undefined if it is no move.
 *  Notices of one commit about one file node are adjacent, `added` before `removed`. */
function otherHalfOfMove(
  before: DatedNotice | undefined,
  notice: DatedNotice,
): DatedNotice | undefined {
  const isMove =
    before?.action === "added" &&
    notice.action === "removed" &&
    before.at === notice.at &&
    before.node === notice.node;
  return isMove ? before : undefined;
}

/** A change of a directory entry: `action` is a `ChangeAction`, `filter` the `ChangeFilter` bits of
 *  which a watch must have one to report it. */
export interface FileChange {
  readonly action: number;
  readonly parent: bigint;
  readonly name: string;
  readonly filter: number;
}

/** The watches of one share, and the changes that were not reported to them yet. */
interface WatchedShare {
  readonly watches: Set<DirectoryWatch>;
  /** Changes that are not reported yet: one element per commit, oldest first. */
  readonly backlog: (readonly FileChange[])[];
  isDispatching: boolean;
}

/** Most commits in the backlog of a share. Beyond this, the backlog is dropped, and all watches of
 *  the share get STATUS_NOTIFY_ENUM_DIR, on which clients list their directories again. */
const backlogMax = 4096;
/** Commits whose directories are looked up at once, with their parents, which may be watched. */
const lookupsMax = 64;
/** Watches that are notified in one iteration of the event loop; others wait for the next one. */
const watchesPerIterationMax = 256;

/** Passes changes in order to the watches (of CHANGE_NOTIFY requests) of their directories. */
export class ChangeDispatcher {
  readonly #server: SmbServerState;
  readonly #shares = new Map<bigint, WatchedShare>();
  readonly #remote: RemoteChanges;
  #isStopped = false;

  constructor(server: SmbServerState) {
    this.#server = server;
    this.#remote = new RemoteChanges(
      server,
      (isWanted, work) => this.#insist(isWanted, work),
      (share, found) => this.publish(share, found),
    );
  }

  /** Called when the server stops: from now on, failed work is not repeated. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Reports changes in a share to a watch, until the returned function is called. */
  subscribe(share: bigint, watch: DirectoryWatch): () => void {
    const known = this.#shares.get(share);
    const watched = known ?? { watches: new Set(), backlog: [], isDispatching: false };
    if (known === undefined) this.#remote.subscribe(share);
    this.#shares.set(share, watched);
    const { watches } = watched;
    watches.add(watch);
    return () => {
      if (!watches.delete(watch) || watches.size > 0) return;
      this.#shares.delete(share);
      this.#remote.unsubscribe(share);
    };
  }

  /** Resolves when every later change in the share, by any process, will reach its watches. */
  whenSubscribed(share: bigint): Promise<void> {
    return this.#remote.whenSubscribed(share);
  }

  /** Queues the changes of one commit; each watch gets them in one report. */
  publish(share: bigint, changes: readonly FileChange[]): void {
    const watched = this.#shares.get(share);
    if (watched === undefined || changes.length === 0) return;
    watched.backlog.push(changes);
    if (watched.isDispatching) return;
    watched.isDispatching = true;
    void this.#server.backgroundWork.add(this.#dispatchAll(share, watched));
  }

  /** Completes the pending CHANGE_NOTIFY requests on a directory that was marked for deletion. */
  endWatchesOf(share: bigint, directory: bigint): void {
    for (const watch of this.#shares.get(share)?.watches ?? []) {
      if (watch.directory === directory) watch.endRequests(Status.deletePending);
    }
  }

  /** See `Insist`. Clients wait for changes without repeating a request: a change that is not
   *  reported because the store is unavailable would be lost to them. */
  async #insist<T>(isWanted: () => boolean, work: () => Promise<T>): Promise<T | undefined> {
    const { log, clock } = this.#server.world;
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isTemporary(error)) throw error;
        if (!isWanted() || this.#isStopped) return undefined;
        const then = `retrying in ${retryMilliseconds} ms`;
        log.warn({ err: error }, `change notification failed; ${then}`);
        await new Promise<void>((resolve) => void clock.after(retryMilliseconds, resolve));
      }
    }
  }

  async #dispatchAll(share: bigint, watched: WatchedShare): Promise<void> {
    try {
      while (watched.backlog.length > 0) {
        if (watched.backlog.length > backlogMax) {
          watched.backlog.length = 0;
          await eachInPortions(this.#server.world.clock, watched.watches, (watch) =>
            watch.overflow(),
          );
          continue;
        }
        await this.#dispatchSome(share, watched);
      }
    } finally {
      watched.isDispatching = false;
    }
  }

  async #dispatchSome(share: bigint, { watches, backlog }: WatchedShare): Promise<void> {
    const { runtime, clock } = this.#server.world;
    const entries = backlog.splice(0, lookupsMax);
    const lookUp = () =>
      Promise.all(
        entries.map((changes) =>
          Promise.all(changes.map(({ parent }) => ancestorsOf(runtime, share, parent))),
        ),
      );
    const trails = (await this.#insist(() => watches.size > 0, lookUp)) ?? [];
    for (const [at, changes] of entries.entries()) {
      await eachInPortions(clock, watches, (watch) => report(watch, changes, trails[at] ?? []));
    }
  }
}

/** Calls `visit` for each watch, and yields to the event loop after every
 *  `watchesPerIterationMax`. */
async function eachInPortions(
  clock: Clock,
  watches: ReadonlySet<DirectoryWatch>,
  visit: (watch: DirectoryWatch) => void,
): Promise<void> {
  let visited = 0;
  for (const watch of watches.size > watchesPerIterationMax ? [...watches] : watches) {
    visit(watch);
    visited += 1;
    if (visited % watchesPerIterationMax === 0)
      await new Promise<void>((resolve) => clock.nextIteration(resolve));
  }
}

function report(
  watch: DirectoryWatch,
  changes: readonly FileChange[],
  trails: readonly (readonly Ancestor[])[],
): void {
  const reported = changes.flatMap((change, index) => {
    const path = pathFor(watch, change, trails[index] ?? []);
    return path === undefined ? [] : [{ action: change.action, path }];
  });
  if (reported.length > 0) watch.report(reported satisfies readonly ReportedChange[]);
}

/** The path of a change relative to the watched directory; undefined if the watch does not report
 *  it. */
function pathFor(
  { directory, filter, watchesTree }: DirectoryWatch,
  change: FileChange,
  trail: readonly Ancestor[],
): string | undefined {
  if ((filter & change.filter) === 0) return undefined;
  if (change.parent === directory) return change.name;
  if (!watchesTree) return undefined;
  const at = trail.findIndex(({ id }) => id === directory);
  if (at < 0) return undefined;
  return [...trail.slice(at + 1).map(({ name }) => name), change.name].join("\\");
}

type Entry = Pick<NodeRecord, "parent" | "name" | "kind">;

/** Describes the creation, renaming or deletion of a directory entry for `publish`. */
export function nameChange(action: number, { parent, name, kind }: Entry): FileChange {
  const isDirectory = kind === "directory";
  const filter = isDirectory ? ChangeFilter.directoryName : ChangeFilter.fileName;
  return { action, parent, name, filter };
}

/** The changes of a move: a rename within one directory, otherwise removed, then added. */
export function moveChanges(before: Entry, after: Entry): readonly FileChange[] {
  const stays = before.parent === after.parent;
  return [
    nameChange(stays ? ChangeAction.renamedOld : ChangeAction.removed, before),
    nameChange(stays ? ChangeAction.renamedNew : ChangeAction.added, after),
  ];
}

/** Describes new contents or properties of a file (`filter` says which) for `publish`. */
export function modification(node: NodeRecord, filter: number): FileChange {
  return { action: ChangeAction.modified, parent: node.parent, name: node.name, filter };
}
