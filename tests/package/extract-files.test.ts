import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openCacheFolder, type CacheEnvironment } from "../../scripts/executable/cache-folder.ts";
import { extractFiles } from "../../scripts/executable/extract-files.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();
const text = (value: string): Uint8Array => new TextEncoder().encode(value);
const files = new Map([
  ["native/lmdb.node", text("library".repeat(100_000))],
  ["ui/dist/index.html", text("page")],
]);

function newFolder(name: string): string {
  const path = join(folder, name);
  mkdirSync(path, { mode: 0o700 });
  return path;
}

describe("the files of the executable", () => {
  it("are extracted once, for this user alone", () => {
    const cache = newFolder("once");
    const extracted = extractFiles(cache, files);
    const library = join(extracted, "native", "lmdb.node");
    expect(readFileSync(join(extracted, "ui/dist/index.html"), "utf8")).toBe("page");
    expect(statSync(extracted).mode & 0o777).toBe(0o700);
    expect(statSync(library).mode & 0o777).toBe(0o600);
    const before = statSync(library).ino;
    expect(extractFiles(cache, files)).toBe(extracted);
    expect(statSync(library).ino).toBe(before);
    expect(readdirSync(cache)).toHaveLength(1);
  });

  it("of another release have another folder", () => {
    const cache = newFolder("releases");
    const other = new Map([...files, ["ui/dist/index.html", text("newer")]] as const);
    expect(extractFiles(cache, other)).not.toBe(extractFiles(cache, files));
  });

  const damages: Readonly<Record<string, (extracted: string) => void>> = {
    "a changed byte": (at) => writeFileSync(join(at, "native/lmdb.node"), "x"),
    "a missing file": (at) => rmSync(join(at, "ui/dist/index.html")),
    "a link instead of a file": (at) => {
      const original = join(folder, "outside");
      writeFileSync(original, "page");
      rmSync(join(at, "ui/dist/index.html"));
      symlinkSync(original, join(at, "ui/dist/index.html"));
    },
    "a link instead of the folder": (at) => {
      rmSync(at, { recursive: true });
      symlinkSync(folder, at);
    },
  };

  it.each(Object.keys(damages))("are replaced after %s", (name) => {
    const cache = newFolder(name.replaceAll(" ", "-"));
    const extracted = extractFiles(cache, files);
    damages[name]?.(extracted);
    expect(extractFiles(cache, files)).toBe(extracted);
    expect(statSync(join(extracted, "ui/dist/index.html")).isFile()).toBe(true);
    const library = readFileSync(join(extracted, "native/lmdb.node"));
    expect(library.equals(files.get("native/lmdb.node") ?? Buffer.alloc(0))).toBe(true);
    expect(readdirSync(cache)).toHaveLength(1);
  });
});

describe("the cache folder", () => {
  const environment = (variables: CacheEnvironment["variables"]): CacheEnvironment => ({
    variables,
    platform: "linux",
    uid: process.getuid?.(),
    homeFolder: () => {
      throw new Error("no such user");
    },
    temporaryFolder: folder,
  });

  it("is the chosen one, that of the user, or a private one beside temporary files", () => {
    const chosen = join(folder, "chosen");
    expect(openCacheFolder(environment({ ETAGERE_CACHE: chosen }))).toBe(chosen);
    const cache = join(folder, "user");
    expect(openCacheFolder(environment({ XDG_CACHE_HOME: cache }))).toBe(join(cache, "etagere"));
    const neither = environment({});
    const own = join(neither.temporaryFolder, `etagere-${process.getuid?.()}`);
    expect(openCacheFolder(neither)).toBe(own);
    expect(statSync(own).mode & 0o777).toBe(0o700);
    const home = { ...neither, homeFolder: () => join(folder, "home") };
    expect(openCacheFolder(home)).toBe(join(folder, "home/.cache/etagere"));
  });

  it("is refused if another user could write it", () => {
    const open = newFolder("open");
    chmodSync(open, 0o777);
    const chosen = environment({ ETAGERE_CACHE: open });
    expect(() => openCacheFolder(chosen)).toThrow(/open: other users can write it/);
    const foreign = { ...chosen, uid: (chosen.uid ?? 0) + 1 };
    expect(() => openCacheFolder(foreign)).toThrow(/open: belongs to another user/);
    const linked = join(folder, "linked");
    symlinkSync(newFolder("target"), linked);
    expect(() => openCacheFolder({ ...chosen, variables: { ETAGERE_CACHE: linked } })).toThrow(
      /linked: is not a folder/,
    );
  });
});
