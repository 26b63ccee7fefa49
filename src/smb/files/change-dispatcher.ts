import { ancestorsOf, type TrailStep } from "../../file/filesystem/ancestors.ts";
import type { NodeRecord } from "../../file/records.ts";
import type { SmbServerState } from "../server.ts";
import { Status } from "../status.ts";
import { RemoteChanges } from "./remote-changes.ts";
import { ChangeAction, ChangeFilter, type ReportedChange, type DirectoryWatch } from "./directory-watch.ts";

/** One thing that happened to one name of a directory. */
export interface FileChange {
  readonly action: number;
  readonly parent: bigint;
  readonly name: string;
  readonly filter: number;
}

/** The watches of one share, and what they have not been told yet. */
interface WatchedShare {
  readonly watches: Set<DirectoryWatch>;
  /** Happenings of one change each, oldest first. */
  readonly backlog: (readonly FileChange[])[];
  isTelling: boolean;
}

/** Changes that wait to be told; beyond this, clients are advised to list their directories. */
const backlogMax = 4096;
/** Changes whose paths are looked up together. */
const lookedUpTogether = 64;
/** Watches that are notified in one iteration of the event loop. */
const toldTogetherMax = 256;

/** Sends file changes to the watches of their directories, in the order of the changes. */
export class ChangeDispatcher {
  readonly #server: SmbServerState;
  readonly #shares = new Map<bigint, WatchedShare>();
  readonly #foreign: RemoteChanges;

  constructor(server: SmbServerState) {
    this.#server = server;
    this.#foreign = new RemoteChanges(server, (share, found) => this.publish(share, found));
  }

  subscribe(share: bigint, watch: DirectoryWatch): () => void {
    const known = this.#shares.get(share);
    const watched = known ?? { watches: new Set(), backlog: [], isTelling: false };
    if (known === undefined) this.#foreign.subscribe(share);
    this.#shares.set(share, watched);
    const { watches } = watched;
    watches.add(watch);
    return () => {
      if (!watches.delete(watch) || watches.size > 0) return;
      this.#shares.delete(share);
      this.#foreign.unsubscribe(share);
    };
  }

  /** Resolves when nothing that happens from then on is missed. */
  whenSubscribed(share: bigint): Promise<void> {
    return this.#foreign.whenSubscribed(share);
  }

  /** Things that happened together are told together. */
  publish(share: bigint, happenings: readonly FileChange[]): void {
    const watched = this.#shares.get(share);
    if (watched === undefined || happenings.length === 0) return;
    watched.backlog.push(happenings);
    if (watched.isTelling) return;
    watched.isTelling = true;
    void this.#server.backgroundWork.add(this.#tellAll(share, watched));
  }

  /** A directory that is about to go away is not worth waiting for. */
  endWatchesOf(share: bigint, directory: bigint): void {
    for (const watch of this.#shares.get(share)?.watches ?? []) {
      if (watch.directory === directory) watch.endRequests(Status.deletePending);
    }
  }

  async #tellAll(share: bigint, watched: WatchedShare): Promise<void> {
    try {
      while (watched.backlog.length > 0) {
        if (watched.backlog.length > backlogMax) {
          watched.backlog.length = 0;
          await eachInPortions(watched.watches, (watch) => watch.overflow());
          continue;
        }
        await this.#tellSome(share, watched);
      }
    } finally {
      watched.isTelling = false;
    }
  }

  async #tellSome(share: bigint, { watches, backlog }: WatchedShare): Promise<void> {
    const { runtime } = this.#server.world;
    const changes = backlog.splice(0, lookedUpTogether);
    const trails = await Promise.all(
      changes.map((happenings) =>
        Promise.all(happenings.map(({ parent }) => ancestorsOf(runtime, share, parent))),
      ),
    );
    for (const [at, happenings] of changes.entries()) {
      await eachInPortions(watches, (watch) => tell(watch, happenings, trails[at] ?? []));
    }
  }
}

/** Other requests run between two portions. */
async function eachInPortions(
  watches: ReadonlySet<DirectoryWatch>,
  visit: (watch: DirectoryWatch) => void,
): Promise<void> {
  let visited = 0;
  for (const watch of watches.size > toldTogetherMax ? [...watches] : watches) {
    visit(watch);
    visited += 1;
    if (visited % toldTogetherMax === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

function tell(
  watch: DirectoryWatch,
  happenings: readonly FileChange[],
  trails: readonly (readonly TrailStep[])[],
): void {
  const heard = happenings.flatMap((happening, index) => {
    const path = pathFor(watch, happening, trails[index] ?? []);
    return path === undefined ? [] : [{ action: happening.action, path }];
  });
  if (heard.length > 0) watch.report(heard satisfies readonly ReportedChange[]);
}

/** The name as seen from a watched directory, if it lies there and matters. */
function pathFor(
  { directory, filter, watchesTree }: DirectoryWatch,
  happening: FileChange,
  trail: readonly TrailStep[],
): string | undefined {
  if ((filter & happening.filter) === 0) return undefined;
  if (happening.parent === directory) return happening.name;
  if (!watchesTree) return undefined;
  const at = trail.findIndex(({ id }) => id === directory);
  if (at < 0) return undefined;
  return [...trail.slice(at + 1).map(({ name }) => name), happening.name].join("\\");
}

/** Which filter the coming and going of a name belongs to. */
export function nameFilter({ kind }: NodeRecord): number {
  return kind === "directory" ? ChangeFilter.directoryName : ChangeFilter.fileName;
}

export function nameChange(action: number, node: NodeRecord): FileChange {
  return { action, parent: node.parent, name: node.name, filter: nameFilter(node) };
}

export function modification(node: NodeRecord, filter: number): FileChange {
  return { action: ChangeAction.modified, parent: node.parent, name: node.name, filter };
}
