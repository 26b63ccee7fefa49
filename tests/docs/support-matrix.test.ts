import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withSupportMatrix } from "../../scripts/support-matrix.ts";

it("shows the operations as they are declared (npm run docs writes it)", () => {
  const readme = readFileSync("README.md", "utf8");
  expect(readme).toBe(withSupportMatrix(readme));
});

it("names no two rows of a service alike", () => {
  const [, matrix = ""] = readFileSync("README.md", "utf8").split("## What is supported");
  for (const service of matrix.split("### ").slice(1)) {
    const names = [...service.matchAll(/^\| (.+?) \| \d{4}-/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(10);
    expect(names).toEqual([...new Set(names)]);
  }
});
