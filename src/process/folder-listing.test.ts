import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

import { entriesIn, namesIn } from "./folder-listing.ts";

it("a folder is listed in the order of its names, whatever the file system returns", async () => {
  const folder = mkdtempSync(join(tmpdir(), "etagere-listing-"));
  const made = Array.from({ length: 40 }, (_, index) => `f${(index * 17) % 40}`);
  for (const name of made) writeFileSync(join(folder, name), "");
  mkdirSync(join(folder, "below"));
  writeFileSync(join(folder, "below", "x"), "");
  const top = ["below", ...made.toSorted()];
  expect(namesIn(folder)).toEqual(top);
  expect((await entriesIn(folder)).map(({ name }) => name)).toEqual(top);
  const deep = ["below", join("below", "x"), ...made.toSorted()];
  expect(namesIn(folder, { isDeep: true })).toEqual(deep);
  const entries = await entriesIn(folder, { isDeep: true });
  expect(entries.map(({ name }) => name)).toEqual(["below", "x", ...made.toSorted()]);
  rmSync(folder, { recursive: true });
});
