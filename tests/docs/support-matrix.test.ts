import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withSupportMatrix } from "../../scripts/support-matrix.ts";

it("shows the operations as they are declared (npm run docs writes it)", () => {
  const readme = readFileSync("README.md", "utf8");
  expect(readme).toBe(withSupportMatrix(readme));
});
