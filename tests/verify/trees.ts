import { byKey, type Operation } from "./history.ts";
import { checkLinearizable, type Model } from "./linearizability.ts";
import { explain } from "./explain.ts";

/** A small tree of directories and files, changed and read through the Blob API and the Data Lake
 *  API. Paths are relative to the directory of the key. */
export type TreeInput =
  /** Put Blob: creates the parents, replaces a file. */
  | { readonly action: "put"; readonly path: string; readonly value: string }
  /** Creates or empties a file. */
  | { readonly action: "create"; readonly path: string }
  /** Only if the path is free. */
  | { readonly action: "mkdir"; readonly path: string }
  /** Appends beyond the end and does not flush: nothing must be visible. */
  | { readonly action: "stage"; readonly path: string; readonly value: string }
  /** Appends at the start and flushes: replaces the content. */
  | { readonly action: "flush"; readonly path: string; readonly value: string }
  | {
      readonly action: "rename";
      readonly path: string;
      readonly to: string;
      /** Only if nothing has the new path. */
      readonly isFresh: boolean;
    }
  /** With everything below it. */
  | { readonly action: "delete"; readonly path: string }
  /** Delete Blob: a file or an empty directory. */
  | { readonly action: "deleteBlob"; readonly path: string }
  | { readonly action: "read"; readonly path: string }
  | { readonly action: "list"; readonly api: "blob" | "dfs" };

export interface TreeOutput {
  readonly status: number;
  /** Of a file that was read: its content; `directory` for a directory. */
  readonly value?: string;
  /** The listed paths, in order. */
  readonly paths?: readonly string[];
}

export const directory = "directory";

/** By path: `directory`, or the content of a file after a colon. */
export type Tree = ReadonlyMap<string, string>;

/** All changes and reads of a tree happen at one moment each: a rename moves everything below a
 *  directory, a delete removes it, and a listing shows one state. */
export function checkTrees(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly Operation<TreeInput, TreeOutput>[])].flatMap(
    ([key, all]) => {
      const known = all.filter(({ input, output }) => output !== undefined || !isRead(input));
      return explain(checkLinearizable(treeModel, known)).map((problem) => `${key}: ${problem}`);
    },
  );
}

function isRead({ action }: TreeInput): boolean {
  return action === "read" || action === "list";
}

const treeModel: Model<TreeInput, TreeOutput> = {
  initial: "[]",
  step(state, input, output) {
    const tree: Tree = new Map(JSON.parse(state) as [string, string][]);
    if (input.action === "read" || input.action === "list") {
      return output === undefined || shows(tree, input, output) ? state : undefined;
    }
    const next = changed(tree, input);
    const after = next === undefined ? state : stateOf(next);
    if (output === undefined) return after;
    // Busy or unavailable: nothing happened.
    if (output.status >= 500) return state;
    return output.status < 300 === (next !== undefined) ? after : undefined;
  },
};

function stateOf(tree: Tree): string {
  return JSON.stringify([...tree].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function shows(tree: Tree, input: TreeInput, output: TreeOutput): boolean {
  if (output.status >= 500) return true;
  if (input.action === "read") {
    const found = tree.get(input.path);
    const shown = found?.startsWith(":") === true ? found.slice(1) : found;
    return output.value === shown;
  }
  const paths = [...tree.keys()].toSorted();
  return JSON.stringify(output.paths ?? []) === JSON.stringify(paths);
}

type Change = Exclude<TreeInput, { action: "read" | "list" }>;

/** The tree afterwards; undefined if the change must be refused. */
export function changed(tree: Tree, input: Change): Tree | undefined {
  const { path } = input;
  const found = tree.get(path);
  switch (input.action) {
    case "put":
      return found === directory ? undefined : created(tree, path, `:${input.value}`);
    case "create":
      return found === directory ? undefined : created(tree, path, ":");
    case "mkdir":
      return found === undefined ? created(tree, path, directory) : undefined;
    case "stage":
      return found?.startsWith(":") === true ? tree : undefined;
    case "flush":
      return found?.startsWith(":") === true
        ? new Map([...tree, [path, `:${input.value}`]])
        : undefined;
    case "rename":
      return renamed(tree, path, input);
    case "delete":
      return found === undefined ? undefined : without(tree, path);
    case "deleteBlob":
      return found === undefined || hasEntries(tree, path) ? undefined : without(tree, path);
  }
}

function parentsOf(path: string): readonly string[] {
  const names = path.split("/");
  return names.slice(0, -1).map((_name, at) => names.slice(0, at + 1).join("/"));
}

function created(tree: Tree, path: string, entry: string): Tree | undefined {
  const parents = parentsOf(path);
  if (parents.some((parent) => (tree.get(parent) ?? directory) !== directory)) return undefined;
  return new Map([
    ...tree,
    ...parents.map((parent) => [parent, directory] as const),
    [path, entry],
  ]);
}

function isWithin(path: string, top: string): boolean {
  return path === top || path.startsWith(`${top}/`);
}

function hasEntries(tree: Tree, path: string): boolean {
  return [...tree.keys()].some((each) => each !== path && isWithin(each, path));
}

function without(tree: Tree, top: string): Tree {
  return new Map([...tree].filter(([path]) => !isWithin(path, top)));
}

function renamed(
  tree: Tree,
  from: string,
  { to, isFresh }: { readonly to: string; readonly isFresh: boolean },
): Tree | undefined {
  const moved = tree.get(from);
  if (moved === undefined || isWithin(to, from)) return undefined;
  if (parentsOf(to).some((parent) => tree.get(parent) !== directory)) return undefined;
  const replaced = tree.get(to);
  if (replaced !== undefined) {
    const isOfKind = (replaced === directory) === (moved === directory);
    if (isFresh || !isOfKind || hasEntries(tree, to)) return undefined;
  }
  const rest = [...tree].filter(([path]) => !isWithin(path, from));
  const there = [...tree]
    .filter(([path]) => isWithin(path, from))
    .map(([path, entry]) => [to + path.slice(from.length), entry] as const);
  return new Map([...rest, ...there]);
}
