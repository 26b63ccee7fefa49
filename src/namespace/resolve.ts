import type { Awaitable } from "../base/awaitable.ts";

/** A tree whose entries are keyed by the id of their directory and by their own name. Renaming a
 *  directory therefore changes one key, however many entries are below it. */
export interface Tree<R> {
  readonly lookup: (directory: bigint, name: string) => Awaitable<R | undefined>;
  /** The id that the entries of a directory are keyed by; undefined for a file. */
  readonly directoryId: (record: R) => bigint | undefined;
}

/** The directories that a path consists of, without its last name. */
export interface ResolvedParents<R> {
  /** The records of the directories that exist, from the top down, without the root. */
  readonly ancestors: readonly R[];
  /** The names of the directories that do not exist, from the top down. */
  readonly missing: readonly string[];
  /** The id of the last directory; undefined if any is missing. */
  readonly id: bigint | undefined;
  /** Whether a file has the name of the first missing directory. */
  readonly isBlocked: boolean;
}

/** Looks up the directories of a path from the root down, one by one. */
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

/** Whether a directory is moved into itself or below itself. */
export function isWithin<R>(
  { directoryId }: Pick<Tree<R>, "directoryId">,
  moved: R,
  ancestorsOfTarget: readonly R[],
): boolean {
  const id = directoryId(moved);
  return id !== undefined && ancestorsOfTarget.some((ancestor) => directoryId(ancestor) === id);
}
