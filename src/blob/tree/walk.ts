import { blobNameUnitsMax, listedPathUnitsMax } from "../../protocol/names.ts";
import { joinPath } from "./find-path.ts";

/** Visits the entries of a tree of directories in order, in pages that can be continued. Listings
 *  of both APIs, deletions and recursive changes use it, each with its own way to read a
 *  directory. */

/** An entry of a directory, as a walk needs it; callers add fields of their own. */
export interface WalkEntry {
  readonly name: string;
  /** The id of the entry if it is a directory; undefined otherwise. */
  readonly directory?: bigint | undefined;
}

/** A part of a directory that `readPage` returns, in the order of names. */
export interface DirectoryPage<E> {
  readonly entries: readonly E[];
  /** The position of the next entry; undefined if there is none. */
  readonly next: Position | undefined;
}

/** A position in a directory: a name, followed by texts that distinguish several states of one
 *  blob. Empty: before the first entry. */
export type Position = readonly string[];

/** Which entries a walk visits, and how it reads directories. */
interface Walk<E extends WalkEntry> {
  /** The id of the directory at which the walk starts; its entries are visited. */
  readonly root: bigint;
  // Path of `root`, with which the visited paths begin.
  readonly rootPath: string;
  /** Text with which the visited entries of `root` begin. */
  readonly namePrefix: string;
  /** Whether the walk also visits the entries of the directories that it meets. */
  readonly recursive: boolean;
  /** Where to start: the names of the path of the first entry, relative to the root. Empty: at the
   *  start. If another request has deleted that entry, the walk starts at the next one in order. */
  readonly from: readonly string[];
  /** The part of the first entry's position after its name. */
  readonly fromRest?: Position | undefined;
  readonly limit: number;
  /** Returns at most `limit` entries of a directory from a position on. With limit 0 the result
   *  only says whether there is an entry. */
  readonly readPage: (request: PageRequest) => Promise<DirectoryPage<E>>;
  /** Called for each entry that the walk visits; "stop" ends the walk as if there were no further
   *  entries, "skip" leaves out the entries of a directory. */
  readonly visit: (path: string, entry: E) => "stop" | "skip" | undefined;
}

/** The input of `readPage`. `from` is undefined for the start of the directory. */
export interface PageRequest {
  readonly directory: bigint;
  readonly namePrefix: string;
  readonly from: Position | undefined;
  readonly limit: number;
}

/** Where the next walk must start, for a continuation token: the path of its first entry, and the
 *  part of that entry's position after its name. */
export interface WalkEnd {
  readonly path: string;
  readonly rest: Position;
}

/** A directory on the way from the root to the current entry, and how far it is read. */
interface Level<E> {
  readonly directory: bigint;
  readonly path: string;
  readonly namePrefix: string;
  entries: readonly E[];
  at: number;
  /** Position of the next page; undefined if the directory is read to its end. */
  next: Position | undefined;
}

/** Most entries of a directory per read. The first page is shorter, as most directories are. */
const pageEntriesMax = 256;
const firstPageEntriesMax = 32;
/* Limits of a walk, because moves of directories can create paths that are longer than a path may
 * be: it does not enter directories below this depth, or with longer paths. */
const walkDepthMax = 254;
const walkedDirectoryUnitsMax = listedPathUnitsMax - blobNameUnitsMax - "/".length;

/** Visits the entries of a tree depth first, a directory before its entries, in the order of names;
 *  both APIs list with it. The cost is proportional to the number of visited entries and to the
 *  depth of the first one. Returns where the next walk must start, or undefined at the end. */
export async function walk<E extends WalkEntry>(options: Walk<E>): Promise<WalkEnd | undefined> {
  const { recursive, visit } = options;
  const stack = await openLevels(options);
  let remaining = options.limit;
  for (;;) {
    const level = stack.at(-1);
    if (level === undefined) return undefined;
    const entry = level.entries[level.at];
    if (entry === undefined) {
      if (level.next === undefined) stack.pop();
      else if (!(await fill(options, level, remaining))) return endOf(level, level.next);
      continue;
    }
    if (remaining === 0) return endOf(level, [entry.name]);
    level.at += 1;
    remaining -= 1;
    const path = joinPath(level.path, entry.name);
    const verdict = visit(path, entry);
    if (verdict === "stop") return undefined;
    const isReachable = stack.length < walkDepthMax && path.length <= walkedDirectoryUnitsMax;
    const isEntered = isReachable && verdict !== "skip";
    if (recursive && entry.directory !== undefined && isEntered) {
      stack.push(newLevel({ directory: entry.directory, path, namePrefix: "", next: fromStart }));
    }
  }
}

const fromStart: Position = [];

function newLevel<E>(level: Pick<Level<E>, "directory" | "path" | "namePrefix" | "next">) {
  return { ...level, entries: [], at: 0 };
}

/** Opens the directories from the root to the first entry. Each continues after the directory that
 *  leads to the first entry. */
async function openLevels<E extends WalkEntry>(options: Walk<E>): Promise<Level<E>[]> {
  const { root, rootPath, namePrefix, from, fromRest = [], readPage } = options;
  const stack: Level<E>[] = [];
  let level = { directory: root, path: rootPath, namePrefix };
  for (const [depth, name] of from.entries()) {
    if (depth === from.length - 1) {
      stack.push(newLevel({ ...level, next: [name, ...fromRest] }));
      return stack;
    }
    const { entries } = await readPage({ ...level, from: [name, ...currentState], limit: 1 });
    const [found] = entries;
    const directory = found?.name === name ? found.directory : undefined;
    const next = directory === undefined ? [name] : [after(name)];
    stack.push(newLevel({ ...level, next }));
    if (directory === undefined) return stack;
    level = { directory, path: joinPath(level.path, name), namePrefix: "" };
  }
  stack.push(newLevel({ ...level, next: fromStart }));
  return stack;
}

/** The part of a position after the name for the current state of a blob, which comes after its
 *  snapshots and versions. */
const currentState: Position = ["base"];

/** The smallest name that comes after `name` in the order of keys. */
function after(name: string): string {
  return `${name}\u0000`;
}

/** Reads the next page of a directory. Returns false if the directory has further entries and the
 *  walk must not visit more. */
async function fill<E extends WalkEntry>(
  { readPage }: Walk<E>,
  level: Level<E>,
  remaining: number,
): Promise<boolean> {
  const { directory, namePrefix, next } = level;
  const isFirst = level.entries.length === 0;
  const limit = Math.min(remaining, isFirst ? firstPageEntriesMax : pageEntriesMax);
  const from = next === undefined || next.length === 0 ? undefined : next;
  const page = await readPage({ directory, namePrefix, from, limit });
  level.entries = page.entries;
  level.at = 0;
  level.next = page.next;
  return limit > 0 || page.next === undefined;
}

function endOf<E>(level: Level<E>, [name = "", ...rest]: Position): WalkEnd {
  return { path: joinPath(level.path, name), rest };
}
