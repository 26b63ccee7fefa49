import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { start } from "../../src/index.ts";
import { azuriteFixture } from "../import/azurite-fixture.ts";
import { importInto } from "../import/import-into.ts";
import { freePorts } from "../harness/server.ts";
import { temporaryFolder } from "../harness/temporary-folder.ts";

const folder = temporaryFolder();
let count = 0;
const newPath = (): string => join(folder, String((count += 1)));

/** What is put in the place of a file. */
const replacements: Readonly<Record<string, (path: string) => void>> = {
  "a link to a file outside": (path) => {
    const outside = newPath();
    renameSync(path, outside);
    symlinkSync(outside, path);
  },
  "a FIFO": (path) => {
    rmSync(path, { force: true });
    expect(spawnSync("mkfifo", [path]).status).toBe(0);
  },
  "a link to a device": (path) => {
    rmSync(path, { force: true });
    symlinkSync("/dev/zero", path);
  },
};

/** The files of a folder of Azurite that an import reads. */
const azuriteFiles = ["__azurite_db_blob__.json", "__blobstorage__"];

describe("etagere import", () => {
  const cases = azuriteFiles.flatMap((file) =>
    Object.keys(replacements).map((kind) => [file, kind] as const),
  );
  it.each(cases)("reads no %s that is %s", async (file, kind) => {
    const fixture = await azuriteFixture();
    const azurite = newPath();
    cpSync(fixture.folder, azurite, { recursive: true });
    fixture.remove();
    const path = join(azurite, file);
    const names = file.endsWith("__") ? readdirSync(path).map((name) => join(path, name)) : [path];
    for (const name of names) replacements[kind]?.(name);
    await expect(importInto(newPath(), azurite)).rejects.toThrow(
      /cannot be read: it is (not a regular file|a link to a file outside the folder)/,
    );
  });
});

describe("--init", () => {
  const specials = Object.keys(replacements).filter((kind) => !kind.includes("file outside"));
  it.each(specials)("reads no contents from %s", async (kind) => {
    const content = newPath();
    replacements[kind]?.(content);
    const init = { containers: { box: { blobs: { content: { file: content } } } } };
    await expect(start({ ...freePorts, init })).rejects.toThrow(/it is not a regular file/);
  });

  it.each(specials)("is no file that is %s", async (kind) => {
    const init = newPath();
    replacements[kind]?.(init);
    await expect(start({ ...freePorts, init })).rejects.toThrow(/it is not a regular file/);
  });

  it("reads no file beyond its limit", async () => {
    const init = newPath();
    writeFileSync(init, "{}");
    expect(spawnSync("truncate", ["-s", "300M", init]).status).toBe(0);
    await expect(start({ ...freePorts, init })).rejects.toThrow(/longer than/);
  });
});
