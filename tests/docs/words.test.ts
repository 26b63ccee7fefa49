import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Words without a technical meaning; the glossary has the terms to use instead. */
const vague = /\b([Ww]hoever|[Ss]omebody|[Nn]obody|those who|told|[Dd]oors?|[Ww]ish(es)?)\b/;
/** Shows titles of tests, which this test does not check. */
const exempt: ReadonlySet<string> = new Set(["docs/CONTRACT.md"]);

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name))
    .filter((path) => !exempt.has(path)),
];

it.each(pages)("%s names subjects and uses technical terms", (path) => {
  const lines = readFileSync(path, "utf8").split("\n");
  // Names of files and identifiers may still contain such a word.
  const found = lines.filter((line) => vague.test(line.replaceAll(/`[^`]*`/g, "")));
  expect(found).toEqual([]);
});

it.each(readdirSync("docs/adr").filter((name) => /^\d{3}-/.test(name)))(
  "docs/adr/%s has a number, Context, Decision and Consequences",
  (name) => {
    const text = readFileSync(join("docs/adr", name), "utf8");
    expect(text).toMatch(new RegExp(`^# ${name.slice(0, 3)}: `));
    const sections = [...text.matchAll(/^## (.+)$/gm)].map(([, title]) => title);
    expect(sections).toEqual(["Context", "Decision", "Consequences"]);
  },
);
