import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/** The folder of what all servers of a process share (its README says what that may be). */
const folder = join("src", "process");

/** Classes of the platform whose instances do not change unless one of `changes` is called. */
const platform = /^(Set|Map|RegExp|TextEncoder|TextDecoder|URL|Uint8Array|DataView)$/;
const changes = "set|add|push|delete|clear|pop|shift|unshift|splice|fill|write\\w*|copy";

/** The names of a file that are declared outside of functions and classes, and change. */
function stateOf(text: string): readonly string[] {
  const variables = [...text.matchAll(/^(?:export )?let (\w+)/gm)].map(([, name = ""]) => name);
  const constants = [...text.matchAll(/^(?:export )?const (\w+)(: [^=\n]*)? =\s*(?:new (\w+))?/gm)];
  const changing = constants.filter(([, name = "", type = "", instance]) => {
    if (type.includes("Readonly")) return false;
    if (instance !== undefined && !platform.test(instance)) return true;
    const called = `(?<![.\\w])${name}\\.(?:${changes})\\(`;
    const place = `(?<![.\\w])${name}(?:\\[[^\\]\\n]+\\]!?|\\.\\w+)`;
    const assigned = `^[^\\n"\`:]*${place} (?:[-+|&^]|\\?\\?)?= `;
    return new RegExp(`${called}|${assigned}`, "m").test(text);
  });
  return [...variables, ...changing.map(([, name = ""]) => name)];
}

const withState = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"))
  .map((name) => join("src", name))
  .filter((path) => stateOf(readFileSync(path, "utf8")).length > 0);

it("modules keep no state, except those of one folder", () => {
  expect(withState.filter((path) => !path.startsWith(folder))).toEqual([]);
});

it("the folder is the right one", () => {
  expect(withState.filter((path) => path.startsWith(folder))).not.toEqual([]);
});

it("finds variables, changed collections and instances", () => {
  expect(stateOf("let last = 0;\n")).toEqual(["last"]);
  expect(stateOf("const seen = new Map();\nseen.set(1, 2);\n")).toEqual(["seen"]);
  expect(stateOf("const cache = new RecentMap(3);\n")).toEqual(["cache"]);
  expect(stateOf("const table = {};\nfunction add() {\n  table.x = 1;\n}\n")).toEqual(["table"]);
  expect(stateOf("const names: ReadonlySet<string> = new Set();\n")).toEqual([]);
});
