import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Words without a technical meaning; the glossary has the terms to use instead. */
const vague =
  /\b([Ww]hoever|[Ss]omebody|[Nn]obody|[Ss]omeone|[Tt]hose who|told|[Dd]oors?|[Ww]ish(es)?)\b/;

const files = ["src", "ui/src", "tests", "scripts", "examples", "packages"].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(tsx?|mjs)$/.test(name) && !name.includes("node_modules"))
    .map((name) => join(folder, name)),
);

it("comments, names and texts name their subjects and use technical terms", () => {
  const checked = files.filter((path) => !path.endsWith("words.test.ts"));
  const found = checked.flatMap((path) =>
    readFileSync(path, "utf8")
      .split("\n")
      .flatMap((line, index) => (vague.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
  expect(found).toEqual([]);
});
