import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { azuriteFixture, type AzuriteFixture } from "../import/azurite-fixture.ts";
import { startCommand } from "./start-command.ts";

const command = [process.execPath, resolve("bin/etagere")];
const ports = ["blob", "queue", "table", "file", "smb", "admin"].map((name) => `--${name}Port=0`);
const location = temporaryFolder();
let fixture: AzuriteFixture;
const hourAgo = new Date(Date.now() - 3_600_000);
beforeAll(async () => {
  fixture = await azuriteFixture();
  // As if Azurite was stopped long ago.
  for (const name of readdirSync(fixture.folder)) {
    utimesSync(join(fixture.folder, name), hourAgo, hourAgo);
  }
});
afterAll(() => {
  fixture.remove();
});

const run = (...words: readonly string[]) => runWith({}, ...words);

function runWith(variables: NodeJS.ProcessEnv, ...words: readonly string[]) {
  const [program = "", ...rest] = [...command, ...words];
  const env = { ...process.env, ...variables };
  return spawnSync(program, rest, { cwd: fixture.folder, encoding: "utf8", env });
}

/** Standard error of a start in the folder that Azurite used. */
async function warningsOf(...words: readonly string[]): Promise<string> {
  const options = { folder: fixture.folder };
  const server = await startCommand([...command, ...ports, ...words], options);
  await server.end();
  return server.errors();
}

describe("etagere on a folder with data of Azurite", () => {
  it("names the import command until the data is imported", async () => {
    const what = "contains Azurite data, which is not served; to import it:";
    const warning = `etagere: ${fixture.folder} ${what} `;
    expect(await warningsOf()).toBe(`${warning}etagere import . --location .etagere\n`);
    const there = ["--location", fixture.folder];
    const advice = `etagere import ${fixture.folder} --location ${fixture.folder}\n`;
    expect(await warningsOf(...there)).toBe(`${warning}${advice}`);
    expect(await warningsOf("--inMemoryPersistence")).toBe("");
    expect(run("import", ".", ...there).status).toBe(0);
    expect(await warningsOf(...there)).toBe("");
  });

  it("reports what it imported, or why it did not", () => {
    const imported = run("import", fixture.folder, "-l", location);
    const steps = imported.stderr.split("\n").filter((line) => line !== "");
    expect(steps.map((line) => line.split(/: |, |\//)[0])).toEqual([
      "reading Azurite's lists",
      "importing blobs",
      "importing messages",
      "importing entities",
    ]);
    expect(steps[1]).toMatch(/^importing blobs: 100%, (\d+) of \1 blobs and blocks, (.+) of \2, /);
    expect(imported.stdout).toBe(
      "imported 3 containers with 9 blobs, 3 snapshots and 3 uncommitted blocks,\n" +
        "2 queues with 3 messages, 2 tables with 151 entities\n",
    );
    expect(imported.status).toBe(0);
    const again = run("import", fixture.folder, "-l", location);
    expect(again).toMatchObject({ status: 1, stdout: "" });
    expect(again.stderr).toMatch(/^etagere: container \S+\/box exists or is[^]*nothing was imp/m);
    const empty = run("import", location, "-l", location);
    expect(empty.stderr).toContain("no Azurite data (__azurite_db_*.json) found\n");
    const lake = ["-l", temporaryFolder(), "--enableHierarchicalNamespace"];
    const refused = run("import", fixture.folder, ...lake);
    expect(refused.status).toBe(1);
    expect(refused.stderr).toMatch(/^etagere: blob box\/[^]*page blob\n[^]*into a flat account/m);
    const contradiction = run("import", fixture.folder, "-l", location, lake[2] ?? "");
    expect(contradiction.stderr).toContain("flat namespace, which cannot become hierarchical");
    const missing = run("import", fixture.folder, "--config", "none.json");
    expect(missing.stderr).toContain("none.json: cannot be read");
    const unopened = join(temporaryFolder(), "data");
    expect(run("import", location, "-l", unopened).status).toBe(1);
    expect(existsSync(unopened)).toBe(false);
    expect(run("import").stderr).toContain("etagere import: FOLDER is required\n");
    expect(run("import", ".", "--store", "x").stderr).toContain("--store: must be postgres://");
  });

  it("warns of accounts that no server with the same configuration serves", () => {
    const missing = (name: string) => `etagere: warning: ${name} is not configured, and its data`;
    const into = () => ["import", fixture.folder, "-l", temporaryFolder()];
    const named = { AZURITE_ACCOUNTS: "another:a2V5" };
    const unserved = runWith(named, ...into());
    expect(unserved.stderr).toContain(missing("devstoreaccount1"));
    expect(unserved.status).toBe(0);
    const report = runWith(named, ...into(), "--json");
    expect(JSON.parse(report.stdout)).toMatchObject({
      blobs: 9,
      warnings: [expect.stringMatching(/^devstoreaccount1 is not configured/)],
    });
    const config = join(temporaryFolder(), "accounts.json");
    const account = { keys: ["a2V5"] };
    writeFileSync(config, JSON.stringify({ accounts: { other: account } }));
    expect(run(...into(), "--config", config).stderr).toContain(missing("devstoreaccount1"));
    writeFileSync(config, JSON.stringify({ accounts: { devstoreaccount1: account } }));
    const quiet = [run(...into(), "--config", config), run(...into())];
    expect(quiet.map(({ stderr }) => stderr.includes("warning"))).toEqual([false, false]);
  });
});
