import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contentTags } from "../content/tables.ts";
import { ownerJobKinds } from "../operation/effects.ts";
import { recordCounters, recordTables, reclaimers, restoreRules } from "./services.ts";
import { services } from "./services.ts";

const source = join(import.meta.dirname, "..");

/** Names of the tables and counters that source files declare, except those of the ephemeral
 *  store. */
function declaredNames(): readonly string[] {
  const files = readdirSync(source, { recursive: true, encoding: "utf8" });
  const code = files.filter((file) => file.endsWith(".ts") && !/test/.test(file));
  const ephemeral = /^store\//;
  return code
    .filter((file) => !ephemeral.test(file) && !file.startsWith("encoding/"))
    .flatMap((file) => {
      const text = readFileSync(join(source, file), "utf8");
      const declared = text.matchAll(/define(?:Table|Index|Counter)<?.*?\bname: "([^"]+)"/gs);
      return [...declared].flatMap(([, name]) => name ?? []);
    });
}

describe("the tables of records", () => {
  it("are all that source files declare", () => {
    const known = [...recordTables, ...recordCounters].map(({ name }) => name);
    expect(declaredNames().toSorted()).toEqual(known.toSorted());
  });

  it("have tags of their own", () => {
    const tags = [...recordTables, ...recordCounters].map(({ tag }) => tag);
    expect(new Set([...tags, ...contentTags]).size).toBe(tags.length + contentTags.length);
  });

  it("that an id owns are removed by a reclaim job", () => {
    const owned = recordTables.flatMap(({ owner }) => (owner === "store" ? [] : [owner]));
    for (const owner of new Set(owned)) {
      const kinds =
        owner === "account" ? services.map(({ name }) => `${name}-account`) : ownerJobKinds[owner];
      for (const kind of kinds) expect(reclaimers.has(kind), kind).toBe(true);
    }
  });

  it("with a period have a handler of its job", () => {
    for (const { period } of recordTables) {
      for (const kind of period?.jobKinds ?? []) expect(reclaimers.has(kind), kind).toBe(true);
    }
  });

  it("define each kind of owner", () => {
    const defined = recordTables.flatMap(({ defines }) => defines.map(({ kind }) => kind));
    for (const { owner, name } of recordTables) {
      if (owner !== "store") expect(defined, name).toContain(owner);
    }
  });

  it("are archived with the record that defines their owner", () => {
    for (const { isArchived, owner, name } of recordTables) {
      if (!isArchived || owner === "account") continue;
      const definers = recordTables.filter(({ defines }) =>
        defines.some((id) => id.kind === owner),
      );
      expect(
        definers.some((table) => table.isArchived),
        name,
      ).toBe(true);
    }
  });

  it("are restored with a saved state, except those of connections and processes", () => {
    const excluded = recordTables.filter(({ tag }) => restoreRules.excluded.has(tag));
    const passing = recordTables.filter(({ lifetime }) => lifetime !== "durable");
    expect(excluded).toEqual(passing);
    expect(excluded.map(({ name }) => name).toSorted()).toEqual([
      "file-locks",
      "file-notices",
      "watched-shares",
    ]);
  });
});
