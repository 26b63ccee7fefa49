import {
  takeNotices,
  unwatchShare,
  watchShare,
  type DatedNotice,
} from "../../file/filesystem/watching.ts";
import { notices, type NodeAspect } from "../../file/notices.ts";
import type { SmbServerState } from "../server.ts";
import type { FileChange } from "./change-dispatcher.ts";
import { ChangeAction, ChangeFilter } from "./directory-watch.ts";

type Publish = (share: bigint, happenings: readonly FileChange[]) => void;

interface ShareSubscription {
  /** One thing after the other: a share may be watched again while it is being let go. */
  turn: Promise<void>;
  unwatch: () => void;
  isReading: boolean;
  hasMore: boolean;
}

/** Hears of changes that were not made by this server's own clients: over REST, or by others. */
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
    const listening: ShareSubscription = known ?? {
      turn: Promise.resolve(),
      unwatch: () => {},
      isReading: false,
      hasMore: false,
    };
    this.#shares.set(share, listening);
    this.#then(listening, async () => {
      await watchShare(runtime, share, owner);
      const prefix = notices.prefix([share, owner]);
      listening.unwatch = runtime.store.watch(prefix, () => this.#read(share, listening));
    });
  }

  unsubscribe(share: bigint): void {
    const listening = this.#shares.get(share);
    if (listening === undefined) return;
    const { runtime } = this.#server.world;
    this.#then(listening, async () => {
      listening.unwatch();
      await unwatchShare(runtime, share, this.#server.owner);
    });
  }

  /** Resolves when nothing that happens from then on is missed. */
  async whenSubscribed(share: bigint): Promise<void> {
    await this.#shares.get(share)?.turn;
  }

  #then(listening: ShareSubscription, work: () => Promise<void>): void {
    const next = listening.turn.then(work);
    listening.turn = next.catch(() => {});
    void this.#server.backgroundWork.add(next);
  }

  #read(share: bigint, listening: ShareSubscription): void {
    listening.hasMore = true;
    if (listening.isReading) return;
    listening.isReading = true;
    const { runtime } = this.#server.world;
    const run = async (): Promise<void> => {
      try {
        while (listening.hasMore) {
          listening.hasMore = false;
          const taken = await takeNotices(runtime, share, this.#server.owner);
          if (taken.length > 0) listening.hasMore = true;
          this.#publish(share, changesOf(taken));
        }
      } finally {
        listening.isReading = false;
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

/** What went and came with one commit was renamed. */
export function changesOf(taken: readonly DatedNotice[]): readonly FileChange[] {
  const happenings: FileChange[] = [];
  for (const [index, notice] of taken.entries()) {
    const { action, parent, name } = notice;
    const other = otherHalfOfMove(taken[index - 1], notice);
    if (action === "modified") {
      const filter = notice.aspects.reduce((bits, aspect) => bits | filters[aspect], 0);
      happenings.push({ action: ChangeAction.modified, parent, name, filter });
    } else if (other !== undefined) {
      const stays = other.parent === parent;
      happenings.pop();
      happenings.push(
        moved(notice, stays ? ChangeAction.renamedOld : ChangeAction.removed),
        moved(other, stays ? ChangeAction.renamedNew : ChangeAction.added),
      );
    } else {
      const happened = action === "added" ? ChangeAction.added : ChangeAction.removed;
      happenings.push(moved(notice, happened));
    }
  }
  return happenings;
}

/** Letters of one commit about one node lie side by side, `added` before `removed`. */
function otherHalfOfMove(before: DatedNotice | undefined, notice: DatedNotice): DatedNotice | undefined {
  const isMove =
    before?.action === "added" &&
    notice.action === "removed" &&
    before.at === notice.at &&
    before.node === notice.node;
  return isMove ? before : undefined;
}

function moved({ parent, name, kind }: DatedNotice, action: number): FileChange {
  const isDirectory = kind === "directory";
  const filter = isDirectory ? ChangeFilter.directoryName : ChangeFilter.fileName;
  return { action, parent, name, filter };
}
