import type { Awaitable } from "../../base/awaitable.ts";

/** A tree whose entries are keyed by the id of their directory and by their own name. Renaming a
 *  directory therefore changes one key, however many entries are below it. */
export interface Tree<R> {
  readonly lookup: (directory: bigint, name: string) => Awaitable<R | undefined>;
  /** The id that the entries of a directory are keyed by; undefined for a file. */
  readonly directoryId: (record: R) => bigint | undefined;
}

/** The directories that a path consists of, without its last name. */
interface ResolvedParents<R> {
  /** The records of the directories that exist, from the top down, without the root. */
  readonly ancestors: readonly R[];
  /** The names of the directories that do not exist, from the top down. */
  readonly missing: readonly string[];
  /** The id of the last directory; undefined if any is missing. */
  readonly id: bigint | undefined;
  /** Whether a file has the name of the first missing directory. */
  readonly isBlocked: boolean;
}

/** Looks up the directories of a path from the root down, one by one; synchronously, unless a
 *  lookup returns a promise. */
export function resolveParents<R>(
  tree: Tree<R>,
  root: bigint,
  names: readonly string[],
): Awaitable<ResolvedParents<R>> {
  return descend({ tree, names, ancestors: [] }, root);
}

/** A resolution that has found some of the directories. */
interface Descent<R> {
  readonly tree: Tree<R>;
  readonly names: readonly string[];
  readonly ancestors: R[];
}

function descend<R>(descent: Descent<R>, from: bigint): Awaitable<ResolvedParents<R>> {
  const { tree, names, ancestors } = descent;
  let id = from;
  for (;;) {
    const name = names[ancestors.length];
    if (name === undefined) return { ancestors, missing: noNames, id, isBlocked: false };
    const found = tree.lookup(id, name);
    if (found instanceof Promise) {
      return found.then((record) => {
        const entered = enter(descent, record);
        return entered === undefined ? stopAt(descent, record) : descend(descent, entered);
      });
    }
    const entered = enter(descent, found);
    if (entered === undefined) return stopAt(descent, found);
    id = entered;
  }
}

/** Adds a directory to those that were found, and returns its id; undefined if it is none. */
function enter<R>({ tree, ancestors }: Descent<R>, record: R | undefined): bigint | undefined {
  const id = record === undefined ? undefined : tree.directoryId(record);
  if (record !== undefined && id !== undefined) ancestors.push(record);
  return id;
}

function stopAt<R>({ names, ancestors }: Descent<R>, record: R | undefined): ResolvedParents<R> {
  const missing = names.slice(ancestors.length);
  return { ancestors, missing, id: undefined, isBlocked: record !== undefined };
}

const noNames: readonly string[] = [];

/** Whether a directory is moved into itself or below itself. */
export function isWithin<R>(
  { directoryId }: Pick<Tree<R>, "directoryId">,
  moved: R,
  ancestorsOfTarget: readonly R[],
): boolean {
  const id = directoryId(moved);
  return id !== undefined && ancestorsOfTarget.some((ancestor) => directoryId(ancestor) === id);
}
