import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withOptionTables } from "../../scripts/docs/options-page.ts";
import { serverOptions } from "../../src/cli/command-line.ts";
import { commands } from "../../src/cli/commands.ts";

const page = readFileSync("docs/OPTIONS.md", "utf8");

it("shows flags and commands as they are declared (npm run docs writes it)", () => {
  expect(page).toBe(withOptionTables(page));
});

it("explains only flags that exist", () => {
  const known = [serverOptions, ...[...commands.values()].map(({ options }) => options)];
  const names = [...page.matchAll(/`--(\w+)/g)].map(([, name = ""]) => name);
  expect(names.length).toBeGreaterThan(100);
  expect(names.filter((name) => !known.some((one) => Object.hasOwn(one, name)))).toEqual([
    "name",
    "name",
  ]);
});
