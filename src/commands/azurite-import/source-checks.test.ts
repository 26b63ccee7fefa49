import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../tests/harness/temporary-folder.ts";
import { ticksFromUnixMilliseconds } from "../../base/ticks.ts";
import { databaseVersions, refuseChanged, sourceWarnings } from "./source-checks.ts";

const savedAt = new Date("2026-01-01T00:00:00Z");
const secondsLater = (seconds: number) =>
  ticksFromUnixMilliseconds(savedAt.getTime() + seconds * 1000);

function folderWith(database: string): { readonly folder: string; readonly path: string } {
  const folder = temporaryFolder();
  const path = join(folder, database);
  writeFileSync(path, "{}");
  utimesSync(path, savedAt, savedAt);
  return { folder, path };
}

describe("the folder of a running Azurite", () => {
  it("is warned of for 10 s after Azurite has saved", () => {
    const { folder } = folderWith("__azurite_db_table__.json");
    expect(sourceWarnings(folder, secondsLater(9))).toEqual([
      expect.stringMatching(/ changed in the 10 s before the import: if Azurite still ran, /),
    ]);
    expect(sourceWarnings(folder, secondsLater(10))).toEqual([]);
  });

  it("is refused if Azurite saves during the import", () => {
    const { folder, path } = folderWith("__azurite_db_table__.json");
    const before = databaseVersions(folder);
    refuseChanged(folder, before);
    utimesSync(path, savedAt, new Date(savedAt.getTime() + 1));
    expect(() => refuseChanged(folder, before)).toThrow(`${path} changed during the import`);
  });
});

describe("contents of Azurite without their database", () => {
  it("are named, if there are any", () => {
    const { folder } = folderWith("__azurite_db_queue__.json");
    for (const name of ["blob", "queue"]) mkdirSync(join(folder, `__${name}storage__`));
    expect(sourceWarnings(folder, secondsLater(60))).toEqual([]);
    const extent = "0a1b2c3d-0000-4000-8000-0123456789ab";
    for (const name of ["blob", "queue"]) {
      writeFileSync(join(folder, `__${name}storage__`, extent), "bytes");
    }
    expect(sourceWarnings(folder, secondsLater(60))).toEqual([
      "__blobstorage__ has contents, but __azurite_db_blob__.json is missing: not imported",
    ]);
  });
});
