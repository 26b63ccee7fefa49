import { joinPath } from "./paths.ts";

/** One entry of a directory. */
export interface WalkEntry {
  readonly name: string;
  /** The id of the directory that it is; undefined for anything else. */
  readonly directory?: bigint | undefined;
}

/** A part of a directory, in the order of names. */
export interface DirectoryPage<E> {
  readonly entries: readonly E[];
  /** The position of the next entry; undefined if there is none. */
  readonly next: Position | undefined;
}

/** A name, and what tells several entries of that name apart. */
export type Position = readonly string[];

export interface Walk<E extends WalkEntry> {
  /** The directory whose entries are visited, and its path. */
  readonly root: bigint;
  readonly rootPath: string;
  /** Only entries of the first directory whose names begin so. */
  readonly namePrefix: string;
  /** Whether entries of directories follow the directory. */
  readonly recursive: boolean;
  /** The components of the path to start from, relative to the root, and what follows a name in a
   *  position. Entries that were deleted meanwhile are passed over. */
  readonly from: readonly string[];
  readonly fromBelow?: Position | undefined;
  readonly limit: number;
  /** At most `limit` entries from a position on; with limit 0 it tells whether there is one. */
  readonly readPage: (request: PageRequest) => Promise<DirectoryPage<E>>;
  /** May end the walk, as if nothing came after. */
  readonly visit: (path: string, entry: E) => "stop" | undefined;
}

export interface PageRequest {
  readonly directory: bigint;
  readonly namePrefix: string;
  readonly from: Position | undefined;
  readonly limit: number;
}

/** Where a walk goes on: the whole path of the next entry, and the rest of its position. */
export interface WalkEnd {
  readonly path: string;
  readonly below: Position;
}

interface Level<E> {
  readonly directory: bigint;
  readonly path: string;
  readonly namePrefix: string;
  entries: readonly E[];
  at: number;
  /** Undefined when the directory is read to its end. */
  next: Position | undefined;
}

/** Entries that are read at a time; the first page of a directory is shorter, because most of them
 *  are. */
const pageEntriesMax = 256;
const firstPageEntriesMax = 32;
/** Directories can be moved below others until no path can name what is in them. Walks do not go
 *  there. */
export const walkDepthMax = 254;

/** Visits a tree depth first, a directory before its entries, names ascending. The cost is that of
 *  the entries it visits and of the directories above the first one. Returns where to go on, or
 *  undefined at the end. */
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
    if (visit(path, entry) === "stop") return undefined;
    if (recursive && entry.directory !== undefined && stack.length < walkDepthMax) {
      stack.push(newLevel({ directory: entry.directory, path, namePrefix: "", next: fromStart }));
    }
  }
}

const fromStart: Position = [];

function newLevel<E>(level: Pick<Level<E>, "directory" | "path" | "namePrefix" | "next">) {
  return { ...level, entries: [], at: 0 };
}

/** The levels from the root to the first entry. Above it they go on after the directory that leads
 *  to it. */
async function openLevels<E extends WalkEntry>(options: Walk<E>): Promise<Level<E>[]> {
  const { root, rootPath, namePrefix, from, fromBelow = [], readPage } = options;
  const stack: Level<E>[] = [];
  let level = { directory: root, path: rootPath, namePrefix };
  for (const [depth, name] of from.entries()) {
    if (depth === from.length - 1) {
      stack.push(newLevel({ ...level, next: [name, ...fromBelow] }));
      return stack;
    }
    const { entries } = await readPage({ ...level, from: [name, ...baseOnly], limit: 1 });
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

/** The position of the current state of a name, behind its earlier ones. */
const baseOnly: Position = ["base"];

/** The first name in order that comes after another one. */
function after(name: string): string {
  return `${name}\u0000`;
}

/** Reads on in a directory; false if it has a next entry and none may be visited any more. */
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

function endOf<E>(level: Level<E>, [name = "", ...below]: Position): WalkEnd {
  return { path: joinPath(level.path, name), below };
}
