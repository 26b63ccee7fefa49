import { trailOf, type TrailStep } from "../../file/filesystem/trail.ts";
import type { NodeRecord } from "../../file/records.ts";
import type { SmbServerState } from "../server.ts";
import { Status } from "../status.ts";
import { ForeignChanges } from "./foreign-changes.ts";
import { ChangeAction, ChangeFilter, type Change, type DirectoryWatch } from "./directory-watch.ts";

/** One thing that happened to one name of a directory. */
export interface Happening {
  readonly action: number;
  readonly parent: bigint;
  readonly name: string;
  readonly filter: number;
}

/** Brings what happens to files to those who watch their directories. */
export class ChangeHub {
  readonly #server: SmbServerState;
  readonly #shares = new Map<bigint, Set<DirectoryWatch>>();
  readonly #foreign: ForeignChanges;

  constructor(server: SmbServerState) {
    this.#server = server;
    this.#foreign = new ForeignChanges(server, (share, found) => this.publish(share, found));
  }

  subscribe(share: bigint, watch: DirectoryWatch): () => void {
    const known = this.#shares.get(share);
    const watches = known ?? new Set();
    if (known === undefined) this.#foreign.begin(share);
    this.#shares.set(share, watches);
    watches.add(watch);
    return () => {
      if (!watches.delete(watch) || watches.size > 0) return;
      this.#shares.delete(share);
      this.#foreign.end(share);
    };
  }

  /** Resolves when nothing that happens from then on is missed. */
  ready(share: bigint): Promise<void> {
    return this.#foreign.ready(share);
  }

  /** Things that happened together are told together. */
  publish(share: bigint, happenings: readonly Happening[]): void {
    const watches = this.#shares.get(share);
    if (watches === undefined || happenings.length === 0) return;
    this.#server.finishing(this.#tell(share, watches, happenings));
  }

  /** A directory that is about to go away is not worth waiting for. */
  deletePending(share: bigint, directory: bigint): void {
    for (const watch of this.#shares.get(share) ?? []) {
      if (watch.directory === directory) watch.end(Status.deletePending);
    }
  }

  async #tell(
    share: bigint,
    watches: ReadonlySet<DirectoryWatch>,
    happenings: readonly Happening[],
  ): Promise<void> {
    const trails = await Promise.all(
      happenings.map(({ parent }) => trailOf(this.#server.world.runtime, share, parent)),
    );
    for (const watch of watches) {
      const heard = happenings.flatMap((happening, index) => {
        const path = pathFor(watch, happening, trails[index] ?? []);
        return path === undefined ? [] : [{ action: happening.action, path }];
      });
      if (heard.length > 0) watch.hear(heard satisfies readonly Change[]);
    }
  }
}

/** The name as seen from a watched directory, if it lies there and matters. */
function pathFor(
  { directory, filter, watchesTree }: DirectoryWatch,
  happening: Happening,
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

export function happened(action: number, node: NodeRecord): Happening {
  return { action, parent: node.parent, name: node.name, filter: nameFilter(node) };
}

export function modified(node: NodeRecord, filter: number): Happening {
  return { action: ChangeAction.modified, parent: node.parent, name: node.name, filter };
}
