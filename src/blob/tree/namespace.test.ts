import { describe, expect, it } from "vitest";
import type { RecordView } from "../../operation/view.ts";
import type { BlobKey, BlobRecord } from "../records.ts";
import { comparePaths, joinPath, splitPath, isWithin, resolveParents } from "./find-path.ts";
import { walk, type DirectoryPage, type PageRequest, type WalkEntry } from "./walk.ts";

interface Node {
  readonly id?: bigint;
}

/** Directories by id, their entries by name; entries without an id are files. */
const directories: ReadonlyMap<bigint, Readonly<Record<string, Node>>> = new Map([
  [1n, { a: { id: 2n }, "a-b": {}, b: {}, c: { id: 3n } }],
  [2n, { d: { id: 4n }, x: {} }],
  [3n, {}],
  [4n, { y: {}, z: {} }],
]);

const recordOf = ({ id }: Node) => ({ directory: id }) as BlobRecord;

const view = {
  now: 0n,
  get: (_table: unknown, { container, name }: BlobKey) => {
    const node = directories.get(container)?.[name];
    return node && recordOf(node);
  },
} as unknown as RecordView;

describe("a path", () => {
  it.each([
    ["", []],
    ["/", []],
    ["a", ["a"]],
    ["a/b/", ["a", "b"]],
    ["/a//b", ["a", "b"]],
    [" / ", [" ", " "]],
  ])("%j is split", (path, components) => {
    expect(splitPath(path)).toEqual(components);
  });

  it("is joined to its directory, if that is not the root", () => {
    expect([joinPath("", "a"), joinPath("a", "b")]).toEqual(["a", "a/b"]);
  });

  it.each([
    ["a", "a", 0],
    ["a", "b", -1],
    ["a", "a/b", -1],
    ["a/b", "a-b", -1],
    ["a-b", "a/z", 1],
    ["ﬀ", "😀", -1],
  ])("%s and %s are ordered as in a walk", (left, right, expected) => {
    expect(Math.sign(comparePaths(splitPath(left), splitPath(right)))).toBe(expected);
  });
});

describe("the parents of a path", () => {
  it.each([
    ["", 1n, "", false],
    ["a", 2n, "", false],
    ["a/d", 4n, "", false],
    ["n/m", undefined, "n/m", false],
    ["a/n/m", undefined, "n/m", false],
    ["b", undefined, "b", true],
    ["a/x/n", undefined, "x/n", true],
  ])("%j", async (path, id, missing, isBlocked) => {
    const names = splitPath(path);
    const found = await resolveParents(view, 1n, names);
    expect(found).toMatchObject({ id, missing: splitPath(missing), isBlocked });
    expect(found.ancestors).toHaveLength(names.length - found.missing.length);
  });

  it.each([
    ["a", "a/d", true],
    ["a", "a", true],
    ["a/d", "a", false],
    ["c", "a/d", false],
    ["b", "a", false],
  ])("of a move: is %s above what is in %s? %s", async (moved, target, expected) => {
    const [name = "", ...above] = splitPath(moved).toReversed();
    const { id = 0n } = await resolveParents(view, 1n, above.toReversed());
    const record = recordOf(directories.get(id)?.[name] ?? {});
    const { ancestors } = await resolveParents(view, 1n, splitPath(target));
    expect(isWithin(record, ancestors)).toBe(expected);
  });
});

const everything = ["a", "a/d", "a/d/y", "a/d/z", "a/x", "a-b", "b", "c"];

describe("a walk", () => {
  it("visits a directory before its entries", async () => {
    expect(await visit({})).toEqual([everything, undefined]);
  });

  it.each(everything.map((path, at) => [path, at] as const))(
    "starts at %s and ends after each limit",
    async (path, at) => {
      for (let limit = 0; at + limit <= everything.length; limit += 1) {
        const rest = everything.slice(at);
        expect(await visit({ from: path, limit })).toEqual([rest.slice(0, limit), rest[limit]]);
      }
    },
  );

  it.each([
    ["a/d/zz", "a/x"],
    ["a/e/f", "a/x"],
    ["a/0", "a/d"],
    ["bb", "c"],
    ["b/below/a/file", "b"],
    ["z", undefined],
  ])("from %s, which is not there, goes on at %s", async (from, expected) => {
    const [paths] = await visit({ from });
    expect(paths[0]).toBe(expected);
  });

  it("stays in one directory, or among names of a prefix", async () => {
    expect(await visit({ recursive: false })).toEqual([["a", "a-b", "b", "c"], undefined]);
    const [paths] = await visit({ namePrefix: "a" });
    expect(paths).toEqual(everything.slice(0, 6));
  });
});

interface WalkOptions {
  readonly from?: string;
  readonly limit?: number;
  readonly recursive?: boolean;
  readonly namePrefix?: string;
}

async function visit(options: WalkOptions): Promise<[readonly string[], string | undefined]> {
  const { from = "", limit = 100, recursive = true, namePrefix = "" } = options;
  const paths: string[] = [];
  const end = await walk<WalkEntry>({
    root: 1n,
    rootPath: "",
    namePrefix,
    recursive,
    from: splitPath(from),
    limit,
    readPage,
    visit: (path) => void paths.push(path),
  });
  return [paths, end?.path];
}

function readPage(request: PageRequest): Promise<DirectoryPage<WalkEntry>> {
  const { directory, namePrefix, from: [first = ""] = [], limit } = request;
  const rest = Object.entries(directories.get(directory) ?? {})
    .filter(([name]) => name >= first && name.startsWith(namePrefix))
    .map(([name, { id }]) => ({ name, directory: id }));
  const next = rest[limit];
  return Promise.resolve({ entries: rest.slice(0, limit), next: next && [next.name] });
}
