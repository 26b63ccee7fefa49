import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { whole } from "./content-ref.ts";
import { openSharedFixture } from "../../tests/harness/shared-content-fixture.ts";
import { expectSame, pattern } from "../../tests/harness/content-fixture.ts";

test("a process that opens a location twice keeps unfinished bodies", async () => {
  const folder = await mkdtemp(join(tmpdir(), "etagere-twice-"));
  const first = await openSharedFixture(folder, {});
  const settled = await first.receive(pattern(5000, 1));
  await first.put("settled", () => whole(settled));
  first.content.discard(settled);
  // No record refers to this body yet; if it were removed, the commit would refer to missing bytes.
  const underWay = await first.receive(pattern(50_000, 2));
  await first.remove("settled");

  const second = await openSharedFixture(folder, {});
  await second.reclaimAll();
  await first.put("under way", () => whole(underWay));
  first.content.discard(underWay);
  await second.reclaimAll();
  expectSame(await first.read("under way"), pattern(50_000, 2));
  expectSame(await second.read("under way"), pattern(50_000, 2));

  await second.content.close();
  await second.store.close();
  const later = await first.receive(pattern(700, 3));
  await first.put("later", () => whole(later));
  expectSame(await first.read("later"), pattern(700, 3));
  expect(await first.get("under way")).toBeDefined();
  await first.content.close();
  await first.store.close();
  await rm(folder, { recursive: true, force: true });
});
