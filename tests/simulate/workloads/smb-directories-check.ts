import { explain } from "../../verify/explain.ts";
import { byKey, type Operation } from "../../verify/history.ts";
import { checkLinearizable, type Model } from "../../verify/linearizability.ts";

/** Directories and files below the top directory of a key, changed over SMB and REST. */
export type DirectoryInput =
  | { readonly action: "mkdir" | "remove"; readonly path: string }
  | { readonly action: "list"; readonly path: string }
  /** A file; over REST it may replace one. */
  | { readonly action: "create"; readonly path: string }
  | { readonly action: "rename"; readonly path: string; readonly to: string };

/** At the end: a new entry of a directory that a client watches. */
interface NoticeInput {
  readonly action: "notice";
}

export interface DirectoryOutput {
  readonly status: number;
  /** The reason for a rejection. */
  readonly code?: string;
  /** Entries of the listed directory, in order. */
  readonly names?: readonly string[];
}

type DirectoryOperation = Operation<DirectoryInput | NoticeInput, DirectoryOutput>;

/** By path: whether it is a directory. */
type Tree = ReadonlyMap<string, boolean>;

/** All changes of a tree happen at one moment each, and a listing shows one state; at the end, each
 *  client that watches a directory is notified of a new entry. */
export function checkDirectories(operations: readonly Operation[]): readonly string[] {
  return [...byKey(operations as readonly DirectoryOperation[])].flatMap(([key, all]) => {
    const known = all.filter(isTreeOperation).filter(({ input, output }) => {
      return output !== undefined || input.action !== "list";
    });
    const silent = all.filter(
      ({ input, output }) => input.action === "notice" && output?.status === 410,
    );
    const problems = [
      ...explain(checkLinearizable(model, known)),
      ...silent.map(({ id }) => `${id}: a client was not notified of a new entry`),
    ];
    return problems.map((problem) => `${key}: ${problem}`);
  });
}

function isTreeOperation(
  operation: DirectoryOperation,
): operation is Operation<DirectoryInput, DirectoryOutput> {
  return operation.input.action !== "notice";
}

/** Conflicts with a handle of another client, which say nothing about the tree. */
const busy: ReadonlySet<string | undefined> = new Set([
  "SharingViolation",
  "DeletePending",
  "FileLockConflict",
  "FileClosed",
  "AccessDenied",
]);

const model: Model<DirectoryInput, DirectoryOutput> = {
  initial: "[]",
  step(text, input, output) {
    const tree: Tree = new Map(JSON.parse(text) as [string, boolean][]);
    if (input.action === "list")
      return output && shows(tree, input.path, output) ? text : undefined;
    const after = changed(tree, input);
    const done = after === undefined ? undefined : textOf(after);
    if (output === undefined) return done ?? text;
    if (output.status >= 500 || busy.has(output.code)) return text;
    if (output.status < 300) return done;
    return isRefused(tree, input, output) ? text : undefined;
  },
};

function textOf(tree: Tree): string {
  return JSON.stringify([...tree].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

function shows(tree: Tree, path: string, { status, code, names = [] }: DirectoryOutput): boolean {
  if (status >= 500 || busy.has(code)) return true;
  const isThere = path === "" || tree.get(path) === true;
  if (status >= 300) return !isThere;
  return isThere && JSON.stringify(names) === JSON.stringify(entriesOf(tree, path));
}

function entriesOf(tree: Tree, path: string): readonly string[] {
  const names = [...tree.keys()].filter((each) => parentOf(each) === path);
  return names.map((each) => each.slice(each.lastIndexOf("/") + 1)).toSorted();
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function hasParent(tree: Tree, path: string): boolean {
  return !path.includes("/") || tree.get(parentOf(path)) === true;
}

type Change = Exclude<DirectoryInput, { action: "list" }>;

/** Undefined if it must be refused. */
function changed(tree: Tree, input: Change): Tree | undefined {
  const { path } = input;
  const isFree = !tree.has(path) && hasParent(tree, path);
  switch (input.action) {
    case "mkdir":
      return isFree ? new Map([...tree, [path, true]]) : undefined;
    case "create":
      return isFree || tree.get(path) === false ? new Map([...tree, [path, false]]) : undefined;
    case "remove":
      if (!tree.has(path) || entriesOf(tree, path).length > 0) return undefined;
      return new Map([...tree].filter(([each]) => each !== path));
    case "rename":
      return renamed(tree, path, input.to);
  }
}

function renamed(tree: Tree, from: string, to: string): Tree | undefined {
  const isWithin = (path: string): boolean => path === from || path.startsWith(`${from}/`);
  const isFree = !tree.has(to) && hasParent(tree, to) && !isWithin(to);
  if (!tree.has(from) || !isFree) return undefined;
  const moved = [...tree].map(
    ([path, kind]) => [isWithin(path) ? to + path.slice(from.length) : path, kind] as const,
  );
  return new Map(moved);
}

/** Whether the reason of a rejection is true. REST's requests for directories find no files. */
function isRefused(tree: Tree, input: Change, { status, code }: DirectoryOutput): boolean {
  const { path } = input;
  const to = input.action === "rename" ? input.to : path;
  if (status === 404) {
    const isMissing = input.action === "remove" || input.action === "rename";
    return (isMissing && tree.get(path) !== true) || !hasParent(tree, to);
  }
  if (code === "ResourceAlreadyExists") return tree.has(to);
  if (code === "DirectoryNotEmpty") return entriesOf(tree, to).length > 0;
  const isFile = tree.get(path) === false || tree.get(parentOf(to)) === false;
  return (code === "ResourceTypeMismatch" && isFile) || changed(tree, input) === undefined;
}
