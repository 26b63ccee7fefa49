import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withRoleTables } from "../../scripts/docs/identity-page.ts";

it("shows actions and roles as they are declared (npm run docs writes it)", () => {
  const page = readFileSync("docs/IDENTITY.md", "utf8");
  expect(page).toBe(withRoleTables(page));
});
