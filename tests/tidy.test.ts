import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { describe, expect, it } from "vitest";

/** From the top down. A file imports from its own folder and from layers below; never a sibling. */
const layers: readonly (readonly string[])[] = [
  ["cli", "testkit"],
  ["workers"],
  ["server"],
  ["commands", "controls"],
  ["data"],
  ["host"],
  ["admin"],
  ["events"],
  ["http", "smb"],
  ["blob", "table", "queue", "file"],
  ["account"],
  ["operation"],
  ["content"],
  ["store"],
  ["encoding"],
  ["protocol"],
  ["base"],
  ["process"],
];
/** Data tables, which grow by one row per fact. */
const dataTables: ReadonlySet<string> = new Set(["src/protocol/fault-table.ts"]);
const fileLinesMax = 500;
const functionLinesMax = 60;
const lineColumnsMax = 100;

/** Names that access time, randomness or the environment without the world. */
const bannedNames: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  { name: "Date", pattern: /(?<![\w.$"'`-])Date(?=[.(])|new Date\b/ },
  { name: "Math.random", pattern: /\bMath\.random\b/ },
  { name: "crypto.random*", pattern: /\brandom(Bytes|FillSync|Fill|UUID|Int)\b|getRandomValues/ },
  { name: "setTimeout, setInterval", pattern: /\bset(Timeout|Interval)\(/ },
  { name: "setImmediate", pattern: /\bsetImmediate\b/ },
  { name: "process.env", pattern: /\bprocess\.env\b/ },
  { name: "process.hrtime", pattern: /\bprocess\.hrtime\b/ },
  { name: "performance.now", pattern: /\bperformance\.now\b/ },
];
const bannedNamesAreAtHome = (path: string): boolean =>
  path === "src/host/world.ts" || path.startsWith("src/cli/");

/** What else would make two runs of a simulation differ, and the only files that may use it. */
const restricted: readonly {
  readonly name: string;
  readonly pattern: RegExp;
  readonly homes: readonly string[];
}[] = [
  { name: "uptime", pattern: /\buptime\b/, homes: ["src/host/world.ts"] },
  {
    name: "AbortSignal.timeout",
    pattern: /\bAbortSignal\.timeout\b/,
    // The limit of `fetch`, which reads keys of issuers over the network of this machine.
    homes: ["src/http/auth/tokens/token-verifier.ts"],
  },
  { name: "node:timers", pattern: /["'](node:)?timers(\/promises)?["']/, homes: [] },
  { name: "Atomics.wait", pattern: /\bAtomics\.wait/, homes: [] },
  // The event loop of a simulation runs ticks as Node does; they must not replace an iteration.
  { name: "nextTick", pattern: /\bnextTick\b/, homes: ["src/base/loop-share.ts"] },
  {
    name: "threads",
    pattern: /worker_threads|\bnew Worker\(/,
    homes: ["src/content/body/md5-thread.ts"],
  },
  {
    name: "the unsorted order of a folder",
    pattern: /\b(readdir|readdirSync|opendir|opendirSync)\b/,
    homes: ["src/process/folder-listing.ts"],
  },
  // A listener of a simulation has no timers of its own only if it is bound by `bind`.
  {
    name: "servers of node:http",
    pattern: /import \{[^}]*\bcreateServer\b[^}]*\} from "node:https?"/,
    homes: ["src/server/listener.ts"],
  },
];

interface LockFile {
  readonly packages: Readonly<Record<string, LockEntry>>;
}

interface LockEntry {
  readonly integrity?: string;
  readonly link?: boolean;
}

interface Source {
  readonly path: string;
  readonly text: string;
  readonly lines: readonly string[];
  readonly isTest: boolean;
}

/** Tests, and what only tests import. */
const testForm = /\.(test|proof)\.ts$|^tests\/harness\/store\//;
const sources = ["src", "ui/src", "tests", "scripts"].flatMap(readFolder);
const product = sources.filter(({ path, isTest }) => path.startsWith("src/") && !isTest);

function readFolder(folder: string): readonly Source[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => join(folder, name))
    .map((path) => {
      const text = readFileSync(path, "utf8");
      const isTest = testForm.test(path);
      return { path, text, lines: text.split("\n"), isTest };
    });
}

/** Blanks comments and string literals, which are not checked. Line numbers are kept. */
function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "))
    .replace(/(^|[^:"'`])\/\/.*$/gm, "$1")
    .replace(/"(?:[^"\\\n]|\\.)*"/g, '""');
}

function importsOf({ path, text }: Source): readonly string[] {
  const found = text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g);
  return [...found].map(([, target = ""]) => posix.join(posix.dirname(path), target));
}

/** The files that are loaded before this one: without those of which it only takes types. */
function loadedImportsOf({ path, text }: Source): readonly string[] {
  const found = text.matchAll(/^(?:import|export) (?!type )(\{[^}]*\}|\*.*) from "(\.[^"]+)"/gm);
  return [...found]
    .filter(([, clause = ""]) => !/^\{(\s*type [^,}]+,?)+\s*\}$/.test(clause))
    .map(([, , target = ""]) => posix.join(posix.dirname(path), target));
}

function layerOf(path: string): { readonly rank: number; readonly name: string } | undefined {
  const name = path.split("/")[1] ?? "";
  const rank = layers.findIndex((layer) => layer.includes(name));
  return rank < 0 ? undefined : { rank, name };
}

function complaintsAboutLines(
  files: readonly Source[],
  complain: (line: string, index: number, source: Source) => boolean,
): readonly string[] {
  return files.flatMap((source) =>
    source.lines.flatMap((line, index) =>
      complain(line, index, source) ? [`${source.path}:${index + 1}: ${line.trim()}`] : [],
    ),
  );
}

/**
 * The formatter indents a function's closing brace like the line that opens its body, so the length
 * shows without a parser.
 */
function longFunctions({ path, lines }: Source): readonly string[] {
  return lines.flatMap((line, start) => {
    if (!line.endsWith("{") || !opensFunction(line)) return [];
    const indent = /^\s*/.exec(line)?.[0] ?? "";
    const closing = new RegExp(`^${indent}\\}`);
    const length = lines.slice(start + 1).findIndex((other) => closing.test(other)) + 2;
    return length > functionLinesMax ? [`${path}:${start + 1}: ${length} lines`] : [];
  });
}

function opensFunction(line: string): boolean {
  if (line.endsWith("=> {") || /\bfunction\b/.test(line)) return true;
  const isStatement = /^\s*(\} )?(if|else|for|while|switch|catch|try|do|return|const|let)\b/;
  return /\)(: .+)? \{$/.test(line) && !isStatement.test(line);
}

describe("imports", () => {
  it("point to lower layers, never to a sibling", () => {
    const wrong = product.flatMap((source) => {
      const own = layerOf(source.path);
      if (own === undefined) return [];
      return importsOf(source)
        .filter((target) => {
          const other = layerOf(target);
          return other === undefined || (other.name !== own.name && other.rank <= own.rank);
        })
        .map((target) => `${source.path} imports ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it("form no cycle, in which a module would be used before it has run", () => {
    const left = new Map(product.map((source) => [source.path, loadedImportsOf(source)]));
    const isLoaded = (path: string): boolean => !left.get(path)!.some((target) => left.has(target));
    for (let before = -1; before !== left.size;) {
      before = left.size;
      for (const path of left.keys()) if (isLoaded(path)) left.delete(path);
    }
    expect([...left.keys()]).toEqual([]);
  });

  it("keep protocol rules and encodings free of Node.js modules", () => {
    const pure = product.filter(({ path }) => /^src\/(base|protocol|encoding)\//.test(path));
    expect(complaintsAboutLines(pure, (line) => /from "node:/.test(line))).toEqual([]);
  });

  it("that are made on demand are not made at the start, too", () => {
    const wrong = product.flatMap(({ path, text }) =>
      [...text.matchAll(/\bimport\("([^"]+)"\)/g)]
        .filter(([, target]) => new RegExp(`^(import (?!type)|\\}).*"${target}"`, "m").test(text))
        .map(([found]) => `${path}: ${found}`),
    );
    expect(wrong).toEqual([]);
  });

  it("are checked for every folder of src", () => {
    const folders = readdirSync("src", { withFileTypes: true }).filter((one) => one.isDirectory());
    const known = new Set(layers.flat());
    expect(folders.map(({ name }) => name).filter((name) => !known.has(name))).toEqual([]);
  });
});

describe("size", () => {
  it(`keeps files within ${fileLinesMax} lines`, () => {
    const long = sources.filter(
      ({ path, lines, isTest }) =>
        !dataTables.has(path) && !isTest && lines.length - 1 > fileLinesMax,
    );
    expect(long.map(({ path, lines }) => `${path}: ${lines.length - 1}`)).toEqual([]);
  });

  it(`keeps functions within ${functionLinesMax} lines`, () => {
    const short = sources.filter(({ path, isTest }) => !isTest && !dataTables.has(path));
    expect(short.flatMap(longFunctions)).toEqual([]);
  });

  it(`keeps lines within ${lineColumnsMax} columns`, () => {
    const wide = complaintsAboutLines(
      sources,
      // A key, a URL, a pattern or a test title cannot be wrapped.
      (line) => line.length > lineColumnsMax && !/\S{80}|^\s*(it|describe)\("/.test(line),
    );
    expect(wide).toEqual([]);
  });
});

describe("names", () => {
  it.each(bannedNames)("$name is used in the world only", ({ pattern }) => {
    const strangers = product.filter(({ path }) => !bannedNamesAreAtHome(path));
    const found = strangers.flatMap(({ path, text }) =>
      codeOf(text)
        .split("\n")
        .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
    );
    expect(found).toEqual([]);
  });

  it.each(restricted)("$name is used in its own files only", ({ pattern, homes }) => {
    const found = product
      .filter(({ path }) => !homes.includes(path) && !path.startsWith("src/cli/"))
      .flatMap(({ path, text }) =>
        text
          .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, " "))
          .split("\n")
          .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}`] : [])),
      );
    expect(found).toEqual([]);
    // A home that needs it no longer loses its permission.
    const textOf = (path: string): string => product.find((each) => each.path === path)?.text ?? "";
    expect(homes.filter((path) => !pattern.test(textOf(path)))).toEqual([]);
  });

  it("no test sleeps", () => {
    const tests = sources.filter(({ path, isTest }) => isTest && path !== "tests/tidy.test.ts");
    const waits = /setTimeout\([^)]*\b\d{3,}|sleep\(/;
    expect(complaintsAboutLines(tests, (line) => waits.test(line))).toEqual([]);
  });

  it("files are kebab-case and named for their content", () => {
    const wrong = sources.filter(({ path }) => {
      const name = posix.basename(path).replace(/(\.(test|proof|deploy))?\.tsx?$/, "");
      return !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || /^(utils?|helpers?|common|misc)$/.test(name);
    });
    expect(wrong.map(({ path }) => path)).toEqual([]);
  });
});

describe("house rules", () => {
  it("comments name other files that exist", () => {
    const isWrong = (path: string, name: string): boolean => {
      const found = ["", "src", "ui/src", posix.dirname(path)].map((base) => join(base, name));
      return !found.some((each) => existsSync(each)) || found.includes(path);
    };
    const wrong = sources.flatMap(({ path, lines }) =>
      lines
        .filter((line) => /^\s*(\*|\/\/|\/\*\*)/.test(line))
        .flatMap((line) => [...line.matchAll(/`([\w./-]+\.(?:tsx?|mjs))`/g)])
        .filter(([, name = ""]) => isWrong(path, name))
        .map(([quote]) => `${path}: ${quote}`),
    );
    expect(wrong).toEqual([]);
  });

  it("there are no default exports", () => {
    expect(complaintsAboutLines(product, (line) => /^export default\b/.test(line))).toEqual([]);
  });

  it("no file only re-exports, except the package entry", () => {
    const barrels = product.filter(
      ({ path, text }) =>
        path !== "src/index.ts" && /^export (type )?(\*|\{[^}]*\}) from/m.test(text),
    );
    expect(barrels.map(({ path }) => path)).toEqual([]);
  });

  it("postponed work has an issue number", () => {
    const words = /\b(TO[D]O|FIX[M]E|XX[X])\b(?!.*#\d)/;
    expect(complaintsAboutLines(sources, (line) => words.test(line))).toEqual([]);
  });

  it("no test is focused or skipped without a reason", () => {
    const focused = /\b(it|test|describe)\.(only|skip)\(/;
    const tests = sources.filter(({ isTest }) => isTest);
    expect(complaintsAboutLines(tests, (line) => focused.test(line))).toEqual([]);
  });

  it("the lock file names no download hosts", () => {
    expect(readFileSync("package-lock.json", "utf8")).not.toContain('"resolved": "http');
  });

  it("the lock file has an integrity hash of every package", () => {
    const { packages } = JSON.parse(readFileSync("package-lock.json", "utf8")) as LockFile;
    const without = Object.entries(packages).filter(
      ([name, { integrity, link }]) => name !== "" && link !== true && integrity === undefined,
    );
    expect(without.map(([name]) => name)).toEqual([]);
  });
});
