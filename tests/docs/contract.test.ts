import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { contract } from "../../scripts/docs/contract-guarantees.ts";
import { contractPage } from "../../scripts/docs/contract.ts";

const named = contract.flatMap(({ guarantees }) => guarantees.flatMap(({ tests }) => tests));

it.each(named)("%s has a test named: %s", (path, title) => {
  expect(readFileSync(path, "utf8")).toContain(title);
});

it("docs/CONTRACT.md is up to date (npm run docs writes it)", () => {
  expect(readFileSync("docs/CONTRACT.md", "utf8")).toBe(contractPage());
});
