import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compileChild, compiledFolder } from "../../tests/harness/store/compile-child.ts";
import { openSharedFixture } from "../../tests/harness/shared-content-fixture.ts";
import {
  checkSeededBody,
  extentsIn,
  type ContentFixture,
} from "../../tests/harness/content-fixture.ts";
import { inForm } from "../../tests/harness/long-form.ts";

const folder = mkdtempSync(join(tmpdir(), "etagere-crash-"));
const compiled = compiledFolder("content-crash");
const writesBeforeKill = 150;
const rounds = inForm(1, 3);

beforeAll(() => compileChild("tests/harness/crash-child.ts", compiled));

afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(compiled, { recursive: true });
});

/** Acknowledged seeds by object, in order. */
type Acknowledged = ReadonlyMap<string, readonly number[]>;

/** Runs the child until it has acknowledged enough writes, then kills it. */
async function writeUntilKilled(meanwhile: () => Promise<unknown>): Promise<Acknowledged> {
  const script = join(compiled, "tests/harness/crash-child.js");
  const child = spawn(process.execPath, [script, folder], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  const acknowledged = new Map<string, number[]>();
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const seed = Number(line);
    const name = `object-${seed % 10}`;
    acknowledged.set(name, [...(acknowledged.get(name) ?? []), seed]);
    lines += 1;
    if (lines % 10 === 0) await meanwhile();
    if (lines >= writesBeforeKill) child.kill("SIGKILL");
  }
  const [, signal] = await ended;
  expect(signal).toBe("SIGKILL");
  return acknowledged;
}

/** Checks each object. Concurrent writers may report in another order than they committed, so the
 *  stored version is one of the latest acknowledged ones or a later one. */
async function checkAll(fixture: ContentFixture, acknowledged: Acknowledged): Promise<void> {
  expect(acknowledged.size).toBe(10);
  for (const [name, seeds] of acknowledged) {
    const found = checkSeededBody(await fixture.read(name));
    expect(found).toBeGreaterThanOrEqual(Math.min(...seeds.slice(-3)));
    expect(`object-${found % 10}`).toBe(name);
  }
}

test("a killed process keeps its acknowledged writes and leaves no garbage", async () => {
  const fixture = await openSharedFixture(folder, { extentBytes: 128 * 1024 });
  for (let round = 0; round < rounds; round += 1) {
    const acknowledged = await writeUntilKilled(() => fixture.content.reclaim());
    await checkAll(fixture, acknowledged);
    await fixture.reclaimAll();
    await checkAll(fixture, acknowledged);
  }
  for (let index = 0; index < 10; index += 1) await fixture.remove(`object-${index}`);
  await fixture.reclaimAll();
  await fixture.content.close();
  await fixture.reclaimAll();
  expect(await extentsIn(join(folder, "extents"))).toEqual([]);
  expect(await fixture.entries()).toBe(0);
  await fixture.store.close();
});
