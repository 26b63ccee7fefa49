import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { manualClock } from "../../tests/harness/manual-clock.ts";
import { silentLog } from "../../tests/harness/silent-log.ts";
import { AuditFile, type AuditFileOptions } from "./audit-log.ts";

const folder = mkdtempSync(join(tmpdir(), "etagere-audit-"));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

function openFile(options: Partial<AuditFileOptions> = {}): Promise<AuditFile> {
  files += 1;
  const path = join(folder, `audit${files}`);
  const limits = { bytesMax: 1000, oldFilesMax: 2, rotates: true };
  const world = { clock: manualClock(), log: silentLog };
  return AuditFile.open({ path, ...limits, ...world, ...options });
}

const pathOf = (suffix = ""): string => join(folder, `audit${files}${suffix}`);
const linesIn = (path: string): readonly string[] =>
  readFileSync(path, "utf8").split("\n").slice(0, -1);

it("renames a full file and keeps a limited number of old ones", async () => {
  const file = await openFile({ bytesMax: 10 });
  for (const line of ["first 5678", "second 678", "third 5678", "fourth 678"]) {
    file.append(line);
    await file.flushed();
  }
  await file.close();
  const found = ["", ".1", ".2"].map((suffix) => linesIn(pathOf(suffix)));
  expect(found).toEqual([["fourth 678"], ["third 5678"], ["second 678"]]);
  expect(existsSync(pathOf(".3"))).toBe(false);
});

it("drops lines beyond the buffer and says how many", async () => {
  const file = await openFile();
  const megabyte = "x".repeat(1024 * 1024);
  for (let count = 0; count < 6; count += 1) file.append(megabyte);
  expect(file.droppedLines).toBe(3);
  await file.flushed();
  file.append("after");
  await file.flushed();
  await file.close();
  const [notice, ...kept] = linesIn(pathOf(".1"));
  expect(notice).toMatch(/^\{"time":"20[^"]+Z","event":"dropped","lines":3\}$/);
  expect(kept.map(({ length }) => length)).toEqual(
    [megabyte, megabyte, megabyte].map((x) => x.length),
  );
  expect(linesIn(pathOf())).toEqual(["after"]);
});

it("writes to the new file after another program has renamed the old one", async () => {
  const file = await openFile({ rotates: false });
  file.append("old");
  await file.flushed();
  renameSync(pathOf(), pathOf(".moved"));
  file.append("new");
  await file.flushed();
  renameSync(pathOf(), pathOf(".again"));
  await file.reopen();
  expect(linesIn(pathOf())).toEqual([]);
  await file.close();
  expect([linesIn(pathOf(".moved")), linesIn(pathOf(".again"))]).toEqual([["old"], ["new"]]);
});

it("counts lines that could not be written, and reports them later", async () => {
  const file = await openFile({ bytesMax: 1_000_000 });
  const blocked = pathOf();
  rmSync(blocked);
  renameSync(mkdtempSync(join(folder, "blocks-")), blocked);
  file.append("lost");
  file.append("lost, too");
  await file.flushed();
  expect(file.droppedLines).toBe(2);
  rmSync(blocked, { recursive: true });
  file.append("kept");
  await file.flushed();
  await file.close();
  const [notice, ...kept] = linesIn(blocked);
  expect(notice).toMatch(/^\{"time":"20[^"]+Z","event":"dropped","lines":2\}$/);
  expect(kept).toEqual(["kept"]);
});

it.runIf(process.platform === "linux")(
  "keeps one open file and all lines if they are appended while it is opened again",
  async () => {
    const file = await openFile({ bytesMax: 1_000_000 });
    const expected: string[] = [];
    for (let round = 0; round < 50; round += 1) {
      const reopened = file.reopen();
      for (const part of ["a", "b"]) {
        expected.push(`${round}${part}`);
        file.append(`${round}${part}`);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await reopened;
    }
    await file.flushed();
    const descriptors = readdirSync("/proc/self/fd").map((name) => `/proc/self/fd/${name}`);
    const opened = descriptors.filter((path) => targetOf(path) === pathOf());
    await file.close();
    expect(linesIn(pathOf())).toEqual(expected);
    expect(opened).toHaveLength(1);
  },
);

/** Undefined for a descriptor that was closed meanwhile. */
function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
