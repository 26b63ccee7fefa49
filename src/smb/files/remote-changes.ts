import {
  readNotices,
  unwatchShare,
  watchShare,
  type DatedNotice,
} from "../../file/filesystem/watching.ts";
import { notices, type NodeAspect } from "../../file/notices.ts";
import type { SmbServerState } from "../server.ts";
import type { FileChange } from "./change-dispatcher.ts";
import { ChangeAction, ChangeFilter } from "./directory-watch.ts";

type Publish = (share: bigint, changes: readonly FileChange[]) => void;

interface ShareSubscription {
  /** The last subscribing or unsubscribing of the share; the next one starts after it. */
  queued: Promise<void>;
  unwatch: () => void;
  isReading: boolean;
  hasMore: boolean;
}

/** Receives changes made through REST or by other processes, from stored change notices. */
export class RemoteChanges {
  readonly #server: SmbServerState;
  readonly #publish: Publish;
  readonly #shares = new Map<bigint, ShareSubscription>();

  constructor(server: SmbServerState, publish: Publish) {
    this.#server = server;
    this.#publish = publish;
  }

  subscribe(share: bigint): void {
    const { runtime } = this.#server.world;
    const { owner } = this.#server;
    const known = this.#shares.get(share);
    const subscription: ShareSubscription = known ?? {
      queued: Promise.resolve(),
      unwatch: () => {},
      isReading: false,
      hasMore: false,
    };
    this.#shares.set(share, subscription);
    this.#enqueue(subscription, async () => {
      await watchShare(runtime, share, owner);
      const prefix = notices.prefix([share, owner]);
      subscription.unwatch = runtime.store.watch(prefix, () => this.#read(share, subscription));
    });
  }

  unsubscribe(share: bigint): void {
    const subscription = this.#shares.get(share);
    if (subscription === undefined) return;
    const { runtime } = this.#server.world;
    this.#enqueue(subscription, async () => {
      subscription.unwatch();
      await unwatchShare(runtime, share, this.#server.owner);
    });
  }

  /** Resolves when every later change will be received. */
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
        // Each call returns the oldest notices and deletes them.
        while (subscription.hasMore) {
          subscription.hasMore = false;
          const received = await readNotices(runtime, share, this.#server.owner);
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

const filters: Readonly<Record<NodeAspect, number>> = {
  attributes: ChangeFilter.attributes,
  size: ChangeFilter.size,
  lastWrite: ChangeFilter.lastWrite,
  created: ChangeFilter.creation,
  security: ChangeFilter.security,
  other: ChangeFilter.attributes | ChangeFilter.lastWrite,
};

/** Converts notices to changes. `added` and `removed` of one file node in one commit are a move:
 *  reported as a rename within one directory, otherwise as removed, then added. */
export function changesOf(received: readonly DatedNotice[]): readonly FileChange[] {
  const changes: FileChange[] = [];
  for (const [index, notice] of received.entries()) {
    const { action, parent, name } = notice;
    const movedTo = otherHalfOfMove(received[index - 1], notice);
    if (action === "modified") {
      const filter = notice.aspects.reduce((bits, aspect) => bits | filters[aspect], 0);
      changes.push({ action: ChangeAction.modified, parent, name, filter });
    } else if (movedTo !== undefined) {
      const sameDirectory = movedTo.parent === parent;
      changes.pop();
      changes.push(
        entryChange(notice, sameDirectory ? ChangeAction.renamedOld : ChangeAction.removed),
        entryChange(movedTo, sameDirectory ? ChangeAction.renamedNew : ChangeAction.added),
      );
    } else {
      const nameAction = action === "added" ? ChangeAction.added : ChangeAction.removed;
      changes.push(entryChange(notice, nameAction));
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

function entryChange({ parent, name, kind }: DatedNotice, action: number): FileChange {
  const isDirectory = kind === "directory";
  const filter = isDirectory ? ChangeFilter.directoryName : ChangeFilter.fileName;
  return { action, parent, name, filter };
}
