import { ancestorsOf, type Ancestor } from "../../file/filesystem/ancestors.ts";
import type { NodeRecord } from "../../file/records.ts";
import type { SmbServerState } from "../server.ts";
import { Status } from "../status.ts";
import { RemoteChanges } from "./remote-changes.ts";
import {
  ChangeAction,
  ChangeFilter,
  type ReportedChange,
  type DirectoryWatch,
} from "./directory-watch.ts";

/** One change to one entry of a directory. */
export interface FileChange {
  readonly action: number;
  readonly parent: bigint;
  readonly name: string;
  readonly filter: number;
}

/** The watches of one share, and the changes not yet reported to them. */
interface WatchedShare {
  readonly watches: Set<DirectoryWatch>;
  /** Changes that are not reported yet: one element per commit, oldest first. */
  readonly backlog: (readonly FileChange[])[];
  isDispatching: boolean;
}

/** Commits in the backlog of a share. Beyond this, the backlog is dropped, and all watches of the
 *  share get STATUS_NOTIFY_ENUM_DIR. */
const backlogMax = 4096;
/** Commits whose directories are looked up at the same time. */
const lookupsMax = 64;
/** Watches that are notified in one iteration of the event loop. */
const watchesPerIterationMax = 256;

/** Sends file changes to the watches of their directories, in the order of the changes. */
export class ChangeDispatcher {
  readonly #server: SmbServerState;
  readonly #shares = new Map<bigint, WatchedShare>();
  readonly #remote: RemoteChanges;

  constructor(server: SmbServerState) {
    this.#server = server;
    this.#remote = new RemoteChanges(server, (share, found) => this.publish(share, found));
  }

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

  /** Resolves when every later change by any process will reach the subscribers. */
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

  /** Completes pending requests on a directory that became delete-pending. */
  endWatchesOf(share: bigint, directory: bigint): void {
    for (const watch of this.#shares.get(share)?.watches ?? []) {
      if (watch.directory === directory) watch.endRequests(Status.deletePending);
    }
  }

  async #dispatchAll(share: bigint, watched: WatchedShare): Promise<void> {
    try {
      while (watched.backlog.length > 0) {
        if (watched.backlog.length > backlogMax) {
          watched.backlog.length = 0;
          await eachInPortions(watched.watches, (watch) => watch.overflow());
          continue;
        }
        await this.#dispatchSome(share, watched);
      }
    } finally {
      watched.isDispatching = false;
    }
  }

  async #dispatchSome(share: bigint, { watches, backlog }: WatchedShare): Promise<void> {
    const { runtime } = this.#server.world;
    const entries = backlog.splice(0, lookupsMax);
    const trails = await Promise.all(
      entries.map((changes) =>
        Promise.all(changes.map(({ parent }) => ancestorsOf(runtime, share, parent))),
      ),
    );
    for (const [at, changes] of entries.entries()) {
      await eachInPortions(watches, (watch) => report(watch, changes, trails[at] ?? []));
    }
  }
}

/** Calls `visit` for each watch, and yields to the event loop after every
 *  `watchesPerIterationMax`. */
async function eachInPortions(
  watches: ReadonlySet<DirectoryWatch>,
  visit: (watch: DirectoryWatch) => void,
): Promise<void> {
  let visited = 0;
  for (const watch of watches.size > watchesPerIterationMax ? [...watches] : watches) {
    visit(watch);
    visited += 1;
    if (visited % watchesPerIterationMax === 0)
      await new Promise((resolve) => setImmediate(resolve));
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

/** The completion filter for creating, renaming and deleting an entry. */
export function nameFilter({ kind }: NodeRecord): number {
  return kind === "directory" ? ChangeFilter.directoryName : ChangeFilter.fileName;
}

/** The change of creating, renaming or deleting an entry. */
export function nameChange(action: number, node: NodeRecord): FileChange {
  return { action, parent: node.parent, name: node.name, filter: nameFilter(node) };
}

/** A change of a file other than its name. */
export function modification(node: NodeRecord, filter: number): FileChange {
  return { action: ChangeAction.modified, parent: node.parent, name: node.name, filter };
}
