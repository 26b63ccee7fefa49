import type { Awaitable } from "../base/awaitable.ts";

/** A tree of entries that are keyed by the id of their directory and their own name. A rename
 *  therefore changes one key, whatever is below the directory. */
export interface Tree<R> {
  readonly lookup: (directory: bigint, name: string) => Awaitable<R | undefined>;
  /** The id that the entries of a directory are keyed by; undefined for a file. */
  readonly directoryId: (record: R) => bigint | undefined;
}

/** The directories that a path leads through. */
export interface ResolvedParents<R> {
  /** The directories that exist, from the top down, without the root. */
  readonly ancestors: readonly R[];
  /** The names of those that do not, from the top down. */
  readonly missing: readonly string[];
  /** The id of the last of them; undefined if any is missing. */
  readonly id: bigint | undefined;
  /** A file has the name of the first missing directory. */
  readonly isBlocked: boolean;
}

/** Follows the directories of a path from the root, one look-up for each. */
export async function resolveParents<R>(
  tree: Tree<R>,
  root: bigint,
  names: readonly string[],
): Promise<ResolvedParents<R>> {
  const ancestors: R[] = [];
  let id = root;
  for (const [depth, name] of names.entries()) {
    const found = tree.lookup(id, name);
    const record = found instanceof Promise ? await found : found;
    const directory = record === undefined ? undefined : tree.directoryId(record);
    if (record === undefined || directory === undefined) {
      const isBlocked = record !== undefined;
      return { ancestors, missing: names.slice(depth), id: undefined, isBlocked };
    }
    ancestors.push(record);
    id = directory;
  }
  return { ancestors, missing: noNames, id, isBlocked: false };
}

const noNames: readonly string[] = [];

/** Whether a move would put a directory into itself. */
export function isWithin<R>(
  { directoryId }: Pick<Tree<R>, "directoryId">,
  moved: R,
  ancestorsOfTarget: readonly R[],
): boolean {
  const id = directoryId(moved);
  return id !== undefined && ancestorsOfTarget.some((ancestor) => directoryId(ancestor) === id);
}
