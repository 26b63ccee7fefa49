import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { developmentAccountKey } from "../../src/account/settings.ts";
import { packFolder, unpackFolder } from "../upgrade/packed-folder.ts";
import { writeAzuriteData } from "./azurite-data.ts";
import { describeData } from "./describe-data.ts";

const packedFile = resolve("tests/import/azurite-3.35.json.gz");
const expectedName = "expected.json";

export interface AzuriteFixture {
  /** A folder written by Azurite; each call returns a new copy. */
  readonly folder: string;
  /** What clients of that Azurite saw. */
  readonly expected: unknown;
  remove(): void;
}

/** With AZURITE_PROGRAM (the path of its `azurite.js`) the folder is created and packed again. */
export async function azuriteFixture(): Promise<AzuriteFixture> {
  const folder = mkdtempSync(join(tmpdir(), "etagere-azurite-"));
  const program = process.env["AZURITE_PROGRAM"];
  if (program !== undefined && !isWritten) {
    isWritten = true;
    await writeFixture(program);
  }
  unpackFolder(packedFile, folder);
  const expectedPath = join(folder, expectedName);
  const expected: unknown = JSON.parse(readFileSync(expectedPath, "utf8"));
  rmSync(expectedPath);
  return { folder, expected, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

let isWritten = false;

async function writeFixture(program: string): Promise<void> {
  if (!existsSync(program)) throw new Error(`AZURITE_PROGRAM: ${program} does not exist`);
  const folder = mkdtempSync(join(tmpdir(), "etagere-azurite-"));
  const ports = { blob: 21_000, queue: 21_001, table: 21_002 };
  const words = Object.entries(ports).flatMap(([name, port]) => [`--${name}Port`, String(port)]);
  const flags = ["--silent", "--disableTelemetry", "--skipApiVersionCheck"];
  const preload = ["--require", resolve("tests/import/earlier-date.cjs")];
  const all = [...preload, program, "--location", folder, ...words, ...flags];
  const child = spawn(process.execPath, all, { stdio: ["ignore", "pipe", "inherit"] });
  try {
    await new Promise<void>((listening) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        if (line.startsWith("Azurite Table service is successfully listening")) listening();
      });
    });
    const endpoints = Object.entries(ports).map(([name, port]) => {
      const title = name.slice(0, 1).toUpperCase() + name.slice(1);
      return `${title}Endpoint=http://127.0.0.1:${port}/devstoreaccount1`;
    });
    const account = `AccountName=devstoreaccount1;AccountKey=${developmentAccountKey}`;
    const connectionString = `DefaultEndpointsProtocol=http;${account};${endpoints.join(";")};`;
    await writeAzuriteData(connectionString);
    const expected = await describeData(connectionString);
    writeFileSync(join(folder, expectedName), JSON.stringify(expected));
  } finally {
    child.kill("SIGINT");
    await once(child, "exit");
  }
  packFolder(folder, packedFile);
  rmSync(folder, { recursive: true, force: true });
}
