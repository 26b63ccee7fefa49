import { explain } from "../../verify/explain.ts";
import { byKey, type Operation } from "../../verify/history.ts";
import { checkLinearizable, type Model } from "../../verify/linearizability.ts";

/** Directories and files below the top directory of a key, changed over SMB and REST. */
export type DirectoryInput =
  /** Create makes a file; over REST it may replace one. */
  | { readonly action: "mkdir" | "create"; readonly path: string }
  | { readonly action: "remove"; readonly path: string }
  | { readonly action: "list"; readonly path: string }
  | { readonly action: "rename"; readonly path: string; readonly to: string };

/** An SMB client removes an entry in two steps: it marks the entry, and closes its handle. Between
 *  them, and until a failed close is repeated, the entry is delete-pending. */
export interface RemovalStep {
  readonly action: "mark" | "close";
  readonly path: string;
}

type TreeInput = DirectoryInput | RemovalStep;

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

type DirectoryOperation = Operation<TreeInput | NoticeInput, DirectoryOutput>;

interface Entry {
  readonly isDirectory: boolean;
  /** Set while it is delete-pending; also later, if the mark was lost with the power. */
  readonly isMarked?: boolean;
}

/** By path. */
type Tree = ReadonlyMap<string, Entry>;

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
): operation is Operation<TreeInput, DirectoryOutput> {
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

const model: Model<TreeInput, DirectoryOutput> = {
  initial: "[]",
  step(text, input, output) {
    const tree: Tree = new Map(JSON.parse(text) as [string, Entry][]);
    if (input.action === "list")
      return output && shows(tree, input.path, output) ? text : undefined;
    const after = changed(tree, input);
    const done = after === undefined ? undefined : textOf(after);
    if (output === undefined) return done ?? text;
    if (output.status >= 500 || busy.has(output.code)) return text;
    if (input.action === "close") return done ?? text;
    if (output.status < 300) return done;
    return isRefused(tree, input, output) ? text : undefined;
  },
};

function textOf(tree: Tree): string {
  return JSON.stringify([...tree].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** A listing over REST omits delete-pending entries, although their directory is not empty. */
function shows(tree: Tree, path: string, { status, code, names = [] }: DirectoryOutput): boolean {
  if (status >= 500 || busy.has(code)) return true;
  const isThere = path === "" || isDirectory(tree, path);
  if (status >= 300) return !isThere;
  const shown = entriesOf(tree, path).flatMap((each) => {
    const name = each.slice(each.lastIndexOf("/") + 1);
    return tree.get(each)?.isMarked === true && !names.includes(name) ? [] : [name];
  });
  return isThere && JSON.stringify(names) === JSON.stringify(shown.toSorted());
}

function entriesOf(tree: Tree, path: string): readonly string[] {
  return [...tree.keys()].filter((each) => parentOf(each) === path);
}

function isDirectory(tree: Tree, path: string): boolean {
  return tree.get(path)?.isDirectory === true;
}

function isFile(tree: Tree, path: string): boolean {
  return tree.get(path)?.isDirectory === false;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function hasParent(tree: Tree, path: string): boolean {
  return !path.includes("/") || isDirectory(tree, parentOf(path));
}

type Change = Exclude<TreeInput, { action: "list" }>;

/** Undefined if it must be refused. */
function changed(tree: Tree, input: Change): Tree | undefined {
  const { path } = input;
  const entry = tree.get(path);
  const isFree = entry === undefined && hasParent(tree, path);
  const mayRemove = entry !== undefined && entriesOf(tree, path).length === 0;
  const removed = (): Tree => new Map([...tree].filter(([each]) => each !== path));
  switch (input.action) {
    case "mkdir":
      return isFree ? new Map([...tree, [path, { isDirectory: true }]]) : undefined;
    case "create":
      if (!isFree && !isFile(tree, path)) return undefined;
      return new Map([...tree, [path, { isDirectory: false }]]);
    case "remove":
      return mayRemove ? removed() : undefined;
    case "mark":
      return mayRemove ? new Map([...tree, [path, { ...entry, isMarked: true }]]) : undefined;
    case "close":
      return mayRemove && entry.isMarked === true ? removed() : undefined;
    case "rename":
      return renamed(tree, path, input.to);
  }
}

function renamed(tree: Tree, from: string, to: string): Tree | undefined {
  const isWithin = (path: string): boolean => path === from || path.startsWith(`${from}/`);
  const isFree = !tree.has(to) && hasParent(tree, to) && !isWithin(to);
  if (!tree.has(from) || !isFree) return undefined;
  const moved = [...tree].map(
    ([path, entry]) => [isWithin(path) ? to + path.slice(from.length) : path, entry] as const,
  );
  return new Map(moved);
}

/** Whether the reason of a rejection is true. REST's requests for directories find no files. */
function isRefused(tree: Tree, input: Change, { status, code }: DirectoryOutput): boolean {
  const { path } = input;
  const to = input.action === "rename" ? input.to : path;
  if (status === 404) {
    const needsEntry = input.action !== "mkdir" && input.action !== "create";
    return (needsEntry && !isDirectory(tree, path)) || !hasParent(tree, to);
  }
  if (code === "ResourceAlreadyExists") return tree.has(to);
  if (code === "DirectoryNotEmpty") return entriesOf(tree, to).length > 0;
  const hasFile = isFile(tree, path) || isFile(tree, parentOf(to));
  return (code === "ResourceTypeMismatch" && hasFile) || changed(tree, input) === undefined;
}
