import { spawnSync } from "node:child_process";
import { readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../harness/temporary-folder.ts";
import { fill } from "../folder/fill.ts";
import { program, startChild, type ChildServer } from "../harness/child-server.ts";

const folder = temporaryFolder();
const location = join(folder, "data");
const copy = join(folder, "copy");
let server: ChildServer;

beforeAll(async () => {
  server = await startChild(location, ["--silent"]);
  await fill(server.urls, "cli");
});
afterAll(async () => {
  await server.kill("SIGTERM");
});

function run(...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...words], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe("etagere check and etagere backup", () => {
  it("check and copy a folder that is in use", () => {
    const checked = run("check", location);
    expect(checked.stderr).toMatch(/^checking: \d+%, [\d,]+ of [\d,]+ records, .*\/s\n$/);
    expect(checked.stdout).toMatch(/4 blobs/);
    expect(checked.stdout).toMatch(/^\d+ contents with \d+\.\d MiB: blobs, snapshots, /m);
    expect(checked.stdout).toMatch(/^no problems: /m);
    expect(checked.status).toBe(0);
    const backup = run("backup", "--from", location, "--to", copy);
    expect(backup.stderr).toMatch(/^copying contents: 100%, .* KiB of .* KiB, .*\/s$/m);
    expect(backup.status).toBe(0);
    const copied = run("check", copy, "--json");
    const report = JSON.parse(copied.stdout) as { records: object; contents: number };
    expect(report).toMatchObject({ problemCount: 0, records: { blobs: 4 } });
    expect(report.contents).toBeGreaterThanOrEqual(4);
    expect(copied.stderr).toMatch(/^\{"progress":\{"step":"checking",/);
  });

  it("report a damaged folder and exit with 1", () => {
    const [extent = ""] = readdirSync(join(copy, "extents"));
    truncateSync(join(copy, "extents", extent), 1000);
    const { status, stdout } = run("check", copy);
    expect(stdout).toMatch(/^PROBLEM .*ends at 1000, but is used up to/m);
    expect(stdout).toMatch(/^PROBLEMS FOUND: \d+$/m);
    expect(status).toBe(1);
  });

  it.each([
    [["check"], 2, "usage: etagere check FOLDER"],
    [["check", "--location"], 2, "etagere check: --location: no such option; --help lists all\n"],
    [["check", location, "word"], 2, 'etagere check: unexpected word "word"\n'],
    [["check", join(folder, "nothing")], 2, "not a data folder"],
    [["backup", "--from", location], 1, "usage: etagere backup --from FOLDER --to FOLDER"],
    [
      ["backup", "--form", location],
      1,
      "etagere backup: --form: no such option; did you mean --from?\n",
    ],
    [
      ["backup", location],
      1,
      "etagere backup: --from is required\netagere backup: --to is required\n",
    ],
    [["backup", "--from", location, "--to", location], 1, "not empty; choose"],
  ])("reject %j", (words, code, message) => {
    const { status, stderr } = run(...words);
    expect(stderr).toContain(message);
    expect(status).toBe(code);
  });
});
