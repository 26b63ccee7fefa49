import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { withSupportMatrix } from "../../scripts/docs/support-matrix.ts";

it("shows the operations as they are declared (npm run docs writes it)", () => {
  const page = readFileSync("docs/SUPPORT.md", "utf8");
  expect(page).toBe(withSupportMatrix(page));
});

it("has no two rows of a service with the same name", () => {
  const services = readFileSync("docs/SUPPORT.md", "utf8").split("\n## ").slice(1);
  expect(services.length).toBe(5);
  for (const service of services) {
    const names = [...service.matchAll(/^\| (.+?) \| \d{4}-/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(10);
    expect(names).toEqual([...new Set(names)]);
  }
});
