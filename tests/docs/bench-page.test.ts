import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { benchFiles } from "../../scripts/docs/bench-page.ts";

const files = benchFiles();

it.each([...files.keys()])(
  "%s shows the measured figures and missed goals (npm run docs)",
  (path) => {
    expect(readFileSync(path, "utf8")).toBe(files.get(path));
  },
);

it("covers the page and its plots", () => {
  expect(files.size).toBe(4);
});
