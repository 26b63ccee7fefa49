import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, posix } from "node:path";
import { expect, it } from "vitest";

/** What users of the package, and the system, load. */
const entries = ["index", "jest", "vitest", "node-test", "cli/main", "cli/worker"].map(
  (name) => `src/${name}.ts`,
);
const folders = ["src", "ui/src", "tests", "scripts", "examples"];

interface Module {
  readonly path: string;
  readonly text: string;
}

/** The names that a file takes from another one; `*` if it takes all of them, or unknown ones. */
interface Use {
  readonly target: string;
  readonly names: readonly string[];
}

const modules: readonly Module[] = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => /\.(ts|tsx|mjs|js)$/.test(path) && !path.includes("node_modules"))
    .map((path) => ({ path, text: readFileSync(path, "utf8") })),
);
const isTest = (path: string): boolean => /\.(test|proof)\.tsx?$/.test(path);
const product = modules.filter(({ path }) => /^(src|ui\/src)\//.test(path) && !isTest(path));
const uses = new Map(modules.map((module) => [module.path, usesOf(module)]));

function usesOf({ path, text }: Module): readonly Use[] {
  const named = text.matchAll(
    /\b(?:import|export)\s+(?:type\s+)?([\w*{][^;"]*?)\s*\bfrom\s*"(\.[^"]+)"/g,
  );
  const dynamic = text.matchAll(/(\{[^{}]*\})\s*=\s*await import\(\s*"(\.[^"]+)"/g);
  const others = text.matchAll(/(?<!\}\s*=\s*await\s)\bimport\s*(?:\(\s*)?"(\.[^"]+)"/g);
  return [
    ...[...named, ...dynamic].map(([, clause = "", name = ""]) => ({
      target: targetOf(path, name),
      names: namesIn(clause),
    })),
    ...[...others].map(([, name = ""]) => ({ target: targetOf(path, name), names: ["*"] })),
  ];
}

/** Programs in JavaScript import what is compiled. */
function targetOf(path: string, name: string): string {
  const target = posix.join(posix.dirname(path), name).replace(/^dist\//, "src/");
  return existsSync(target) ? target : target.replace(/\.js$/, ".ts");
}

function namesIn(clause: string): readonly string[] {
  if (clause.includes("*")) return ["*"];
  const list = /\{([^}]*)\}/.exec(clause)?.[1] ?? "";
  return list.split(",").map((one) =>
    one
      .trim()
      .replace(/^type /, "")
      .replace(/( as|:) .*$/, ""),
  );
}

function exportsOf({ text }: Module): readonly string[] {
  const found = text.matchAll(
    /^export (?:[a-z]+ )*(?:function\*?|const|let|class|interface|type|enum) ([\w$]+)/gm,
  );
  return [...found].map(([, name = ""]) => name);
}

it("every export is imported by another file", () => {
  const used = new Map<string, Set<string>>();
  for (const { target, names } of [...uses.values()].flat()) {
    const known = used.get(target) ?? new Set();
    for (const name of names) known.add(name);
    used.set(target, known);
  }
  const unused = product
    .filter(({ path }) => !entries.includes(path))
    .flatMap((module) => {
      const known = used.get(module.path);
      if (known?.has("*")) return [];
      const names = exportsOf(module).filter((name) => known?.has(name) !== true);
      return names.map((name) => `${module.path}: ${name}`);
    });
  expect(product.flatMap(exportsOf).length).toBeGreaterThan(1000);
  expect(unused).toEqual([]);
});

/** The compiler does not check them. */
it("every name that a program in JavaScript takes from the compiled server exists", () => {
  const known = new Map(product.map((module) => [module.path, exportsOf(module)]));
  const taken = modules
    .filter(({ path }) => /\.m?js$/.test(path))
    .flatMap(({ path }) => (uses.get(path) ?? []).map((use) => ({ path, ...use })))
    .filter(({ target, names }) => known.has(target) && !names.includes("*"));
  const missing = taken.flatMap(({ path, target, names }) =>
    names
      .filter((name) => name !== "" && known.get(target)?.includes(name) === false)
      .map((name) => `${path}: ${name} of ${target}`),
  );
  expect(taken.length).toBeGreaterThan(0);
  expect(missing).toEqual([]);
});

it("every file of src is loaded by the package or the command line", () => {
  const loaded = new Set(entries);
  for (const path of loaded) for (const { target } of uses.get(path) ?? []) loaded.add(target);
  const unused = product.filter(({ path }) => path.startsWith("src/") && !loaded.has(path));
  expect(unused.map(({ path }) => path)).toEqual([]);
});
