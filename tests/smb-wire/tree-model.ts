import type { Model } from "../verify/linearizability.ts";

type Named<Kind extends string> = Kind extends string
  ? { readonly kind: Kind; readonly path: string }
  : never;

/** Two levels of names: directories, and files in them. A file is empty or has eight letters. */
export type TreeInput =
  | Named<"create" | "reset" | "delete" | "read" | "mkdir" | "rmdir">
  | {
      readonly kind: "write";
      readonly path: string;
      readonly text: string;
      /** REST writes only within the file's length. */
      readonly over: boolean;
    }
  | { readonly kind: "rename"; readonly path: string; readonly to: string }
  | { readonly kind: "list" };

/** `short`: no bytes to overwrite. `full`: the directory is not empty. */
export type TreeOutput =
  | { readonly said: "done" | "missing" | "exists" | "short" | "full" }
  | { readonly said: "read"; readonly text: string }
  | { readonly said: "listed"; readonly tree: string };

export const zeros = "\0".repeat(8);
const directory = "/";

type Tree = ReadonlyMap<string, string>;

/** One line for each name. */
export function textOfTree(tree: Tree): string {
  return JSON.stringify([...tree].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

export function treeOf(text: string): Map<string, string> {
  return new Map(JSON.parse(text) as [string, string][]);
}

/** The sequential model of a file system. */
export function treeModel(directories: readonly string[]): Model<TreeInput, TreeOutput> {
  return {
    initial: textOfTree(new Map(directories.map((name) => [name, directory]))),
    step(state, input, output) {
      if (output === undefined) throw new Error("every operation of this test is answered");
      const tree = treeOf(state);
      const expected = outcomes(tree, input);
      const fitting = expected.find(({ said }) => isSame(said, output));
      if (fitting === undefined) return undefined;
      return fitting.next === undefined ? state : textOfTree(fitting.next);
    },
  };
}

function isSame(one: TreeOutput, other: TreeOutput): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

interface Outcome {
  readonly said: TreeOutput;
  /** Undefined if nothing changes. */
  readonly next?: Tree;
}

const missing: Outcome = { said: { said: "missing" } };
const exists: Outcome = { said: { said: "exists" } };
const done = (next: Tree): Outcome => ({ said: { said: "done" }, next });

/** Several results if two errors apply and either may be returned. */
function outcomes(tree: Tree, input: TreeInput): readonly Outcome[] {
  if (input.kind === "list") {
    return [{ said: { said: "listed", tree: textOfTree(tree) } }];
  }
  if (input.kind === "rename") return renamed(tree, input.path, input.to);
  return [onName(tree, input)];
}

function onName(
  tree: Tree,
  input: Exclude<TreeInput, { readonly kind: "list" | "rename" }>,
): Outcome {
  const { path } = input;
  const present = tree.get(path);
  switch (input.kind) {
    case "mkdir":
      return present === undefined ? done(withName(tree, path, directory)) : exists;
    case "rmdir":
      if (present === undefined) return missing;
      return below(tree, path).length === 0
        ? done(without(tree, path))
        : { said: { said: "full" } };
    case "create":
      if (!tree.has(parentOf(path))) return missing;
      return present === undefined ? done(withName(tree, path, "")) : exists;
    case "reset":
      return tree.has(parentOf(path)) ? done(withName(tree, path, zeros)) : missing;
    default:
      break;
  }
  if (present === undefined) return missing;
  if (input.kind === "delete") return done(without(tree, path));
  if (input.kind === "read") return { said: { said: "read", text: present } };
  if (input.over && present === "") return { said: { said: "short" } };
  return done(withName(tree, path, input.text));
}

function renamed(tree: Tree, path: string, to: string): readonly Outcome[] {
  const found: Outcome[] = [];
  const present = tree.get(path);
  if (present === undefined || !hasRoom(tree, to)) found.push(missing);
  if (tree.has(to)) found.push(exists);
  if (found.length > 0 || present === undefined) return found;
  const next = new Map([...without(tree, path), [to, present]]);
  for (const name of below(tree, path)) {
    next.set(`${to}${name.slice(path.length)}`, tree.get(name)!);
    next.delete(name);
  }
  return [done(next)];
}

function hasRoom(tree: Tree, path: string): boolean {
  return !path.includes("/") || tree.has(parentOf(path));
}

export function parentOf(path: string): string {
  return path.slice(0, path.indexOf("/"));
}

function below(tree: Tree, path: string): readonly string[] {
  return [...tree.keys()].filter((name) => name.startsWith(`${path}/`));
}

function withName(tree: Tree, path: string, content: string): Tree {
  return new Map([...tree, [path, content]]);
}

function without(tree: Tree, path: string): Tree {
  const next = new Map(tree);
  next.delete(path);
  return next;
}
