import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync("docs")
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];
const roots = ["", "src", "ui/src"];
const topFolders = new Set([".", "src"].flatMap(foldersOf));
/** Names of libraries that clients use. */
const foreign = new Set([
  "EnvironmentCredential",
  "AzureCliCredential",
  "AzurePowerShellCredential",
  "NewClientFromConnectionString",
  "DeltaTable",
]);
const sources = ["src", "ui/src", "scripts", "tests", "examples"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|tsx|mjs|py|go)$/.test(name))
    .map((name) => join(folder, name)),
);
const words = new Set(sources.flatMap((path) => read(path).match(/[A-Za-z_$][\w$]*/g) ?? []));

function read(path: string): string {
  return readFileSync(path, "utf8");
}

function foldersOf(folder: string): readonly string[] {
  const found = readdirSync(folder, { withFileTypes: true });
  return found.filter((one) => one.isDirectory()).map(({ name }) => name);
}

/** The page without code blocks, and its code quotes. */
function quotesOf(path: string): readonly string[] {
  const prose = read(path).replaceAll(/^```[\s\S]*?^```/gm, "");
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, quote = ""]) => quote);
}

function exists(name: string): boolean {
  return roots.some((root) => existsSync(join(root, name)));
}

describe.each(pages)("code quotes of %s", (path) => {
  it("name folders that exist", () => {
    const folders = quotesOf(path).filter(
      (quote) =>
        /^[a-z][\w-]*(\/[\w-]+)*\/?$/.test(quote) &&
        quote.includes("/") &&
        topFolders.has(quote.split("/")[0] ?? ""),
    );
    expect(folders.filter((name) => !exists(name))).toEqual([]);
  });

  it("name types and fields that exist", () => {
    const names = quotesOf(path)
      .map((quote) => quote.replace(/\(\)$/, ""))
      .filter((name) => /^([a-z]+[A-Z]|[A-Z][a-z]+[A-Z])\w*$/.test(name));
    expect(names.filter((name) => !words.has(name) && !foreign.has(name))).toEqual([]);
  });

  it("name what the file beside them has", () => {
    const pairs = read(path).matchAll(/`(\w+)` of\s+`([\w./-]+\.tsx?)`/g);
    const wrong = [...pairs].filter(([, name = "", file = ""]) => {
      const found = roots.map((root) => join(root, file)).find((each) => existsSync(each));
      return found === undefined || !new RegExp(`\\b${name}\\b`).test(read(found));
    });
    expect(wrong.map(([text]) => text)).toEqual([]);
  });
});

describe("docs/ARCHITECTURE.md", () => {
  const text = read("docs/ARCHITECTURE.md");
  /** The rows of the table with this head. */
  const rowsOf = (head: string): readonly (readonly string[])[] => {
    const table = text.slice(text.indexOf(head)).split("\n\n")[0] ?? "";
    const rows = table.split("\n").slice(2);
    return rows.map((row) => row.split(" | ").map((cell) => cell.replaceAll("|", "").trim()));
  };
  const quoted = (cell = ""): readonly string[] =>
    [...cell.matchAll(/`(\w[\w-]*)`/g)].map(([, name = ""]) => name);

  it("describes folders by what is in them", () => {
    const rows = rowsOf("| folder below `src/` |");
    expect(rows.length).toBeGreaterThan(15);
    const wrong = rows.flatMap(([names, contents]) => {
      const own = quoted(names);
      const below = own.flatMap((name) =>
        readdirSync(join("src", name), { recursive: true, encoding: "utf8" }),
      );
      const known = new Set(
        below.flatMap((name) => name.replace(/(-command)?\.ts$/, "").split("/")),
      );
      return quoted(contents)
        .filter((name) => /^[a-z0-9-]+$/.test(name) && !known.has(name) && !topFolders.has(name))
        .map((name) => `${own.join(", ")}: ${name}`);
    });
    expect(wrong).toEqual([]);
  });

  it("lists fields that an operation has", () => {
    const rows = rowsOf("| field | derived from it |");
    const fields = rows.flatMap(([names]) => quoted(names));
    expect(fields.length).toBeGreaterThan(10);
    const declared = sources
      .filter((path) => path.startsWith("src/operation/"))
      .map(read)
      .join("\n");
    const isField = (name: string): boolean =>
      new RegExp(`^ +(readonly )?${name}\\??[:(]`, "m").test(declared);
    expect(fields.filter((name) => !isField(name))).toEqual([]);
  });
});

it("each folder of src has a page of a few lines", () => {
  const wrong = foldersOf("src").filter((name) => {
    const page = join("src", name, "README.md");
    if (!existsSync(page)) return true;
    const text = read(page);
    return (
      text.split("\n").length > 25 || !/\b[Ii]mport/.test(text) || !/\bStart with\b/.test(text)
    );
  });
  expect(wrong).toEqual([]);
});

it("pages of folders name files that exist", () => {
  const wrong = foldersOf("src").flatMap((folder) => {
    const below = readdirSync(join("src", folder), { recursive: true, encoding: "utf8" });
    const known = new Set(below.map((name) => name.slice(name.lastIndexOf("/") + 1)));
    return quotesOf(join("src", folder, "README.md"))
      .filter((quote) => /^[\w./-]+\.(ts|mjs)$/.test(quote))
      .filter((quote) => !exists(quote) && !known.has(quote.slice(quote.lastIndexOf("/") + 1)))
      .map((quote) => `${folder}: ${quote}`);
  });
  expect(wrong).toEqual([]);
});
