import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};

it("has one npm script for each thing people do; everything else is an option", () => {
  expect(Object.keys(scripts).toSorted()).toEqual([
    "bench",
    "bench:guard",
    "build",
    "check",
    "docs",
    "fuzz",
    "mutate",
    "parity",
    "prepack",
    "proof",
    "simulate",
    "start",
    "test",
    "test:clients",
    "test:cluster",
    "test:deploy",
    "verify",
  ]);
});

it("mentions only npm scripts and script files that exist", () => {
  const folders = ["src", "ui/src", "tests", "scripts", "examples", "docs", ".github", ".ci"];
  const inside = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(md|mjs|tsx?|yml)$|^run$/.test(name) && !/node_modules/.test(name))
      .map((name) => join(folder, name)),
  );
  const texts = [...inside, "README.md", "CONTRIBUTING.md", "bin/etagere"].filter(
    (path) => !path.endsWith("npm-scripts.test.ts"),
  );
  const wrong = texts.flatMap((path) => {
    const text = readFileSync(path, "utf8");
    const named = [...text.matchAll(/npm run ([a-z]+(?::[a-z]+)?)/g)].map(([, name = ""]) => name);
    const paths = [...text.matchAll(/\bnode (scripts\/[\w/.-]+\w)/g)].map(([, name = ""]) => name);
    return [
      ...named.filter((name) => !Object.hasOwn(scripts, name)).map((name) => `npm run ${name}`),
      ...paths.filter((name) => !existsSync(name)).map((name) => `node ${name}`),
    ].map((mention) => `${path}: ${mention}`);
  });
  expect(texts.length).toBeGreaterThan(500);
  expect(wrong).toEqual([]);
});
