import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "packages/azurite-names/README.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

/** Without code blocks, in which brackets and number signs mean other things. */
const proseOf = (path: string): string =>
  readFileSync(path, "utf8").replaceAll(/^```[\s\S]*?^```/gm, "");

/** GitHub's anchors: lower case, words joined by hyphens, other characters removed. */
const anchorsOf = (path: string): readonly string[] =>
  [...proseOf(path).matchAll(/^#+ (.+)$/gm)].map(([, title = ""]) =>
    title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );

describe.each(pages)("%s", (path) => {
  const links = [...proseOf(path).matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, to = ""]) => to);

  it("links to files and headings that exist", () => {
    const broken = links.filter((link) => {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : normalize(join(dirname(path), file));
      if (!existsSync(target)) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
    expect(broken).toEqual([]);
  });

  it("names source files that exist", () => {
    const names = [...proseOf(path).matchAll(/`([\w./-]+\/[\w.-]+\.(?:ts|tsx|mjs))`/g)];
    const missing = names
      .map(([, name = ""]) => name)
      .filter((name) => !["", "src", "ui/src"].some((root) => existsSync(join(root, name))));
    expect(missing).toEqual([]);
  });
});

it("docs/ARCHITECTURE.md describes every folder of src", () => {
  const rows = proseOf("docs/ARCHITECTURE.md").matchAll(/^\| ((?:`[a-z-]+`(?:, )?)+) \|/gm);
  const described = new Set(
    [...rows].flatMap(([, names = ""]) => names.replaceAll("`", "").split(", ")),
  );
  const folders = readdirSync("src", { withFileTypes: true }).filter((one) => one.isDirectory());
  expect(folders.length).toBeGreaterThan(0);
  expect(folders.map(({ name }) => name).filter((name) => !described.has(name))).toEqual([]);
});
