import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCommand } from "./start-command.ts";

interface Manifest {
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
}

const packageFolder = resolve("packages/azurite-names");
const readManifest = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
const manifest = readManifest(packageFolder);

const modules = join(mkdtempSync(join(tmpdir(), "etagere-names-")), "node_modules");
const installed = join(modules, "etagere-azurite-names");
beforeAll(() => {
  mkdirSync(modules);
  symlinkSync(resolve("."), join(modules, "etagere"));
  cpSync(packageFolder, installed, { recursive: true });
});
afterAll(() => rmSync(resolve(modules, ".."), { recursive: true, force: true }));

const ports = ["blob", "queue", "table", "file", "smb", "admin"].map((name) => `--${name}Port=0`);

describe("the package with Azurite's program names", () => {
  it("depends on its own release, which has none of these names", () => {
    const { version, bin } = readManifest(resolve("."));
    expect(manifest.version).toBe(version);
    expect(manifest.dependencies).toEqual({ etagere: version });
    expect(Object.keys(bin)).toEqual(["etagere"]);
  });

  it.each([
    ["azurite", ["Blob", "Queue", "Table", "File"]],
    ["azurite-blob", ["Blob"]],
    ["azurite-queue", ["Queue"]],
    ["azurite-table", ["Table"]],
  ])("starts the server as %s", async (name, expected) => {
    const program = [process.execPath, join(installed, manifest.bin[name] ?? "")];
    const server = await startCommand([...program, ...ports, "--inMemoryPersistence"]);
    const titles = ["Blob", "Queue", "Table", "File"];
    expect(titles.filter((title) => server.urlOf(title) !== "")).toEqual(expected);
    expect(await server.end()).toBe(0);
  });
});
