import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it, vi } from "vitest";

import { manualClock } from "../../../tests/harness/manual-clock.ts";
import type { EngineBatch, EngineReader } from "../engine.ts";
import { LmdbEngine } from "./lmdb-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "lmdb-engine-"));
afterAll(() => rmSync(folder, { recursive: true }));

const manyWrites = 1000;
const next = ({ sequence, ticks }: EngineReader): EngineBatch => ({
  sequence: sequence + 1,
  ticks,
  writes: [],
});

describe("an engine with synchronous commits", () => {
  it("uses a thread while another engine of the process commits on one, to avoid a deadlock", async () => {
    const options = { path: join(folder, "one.mdb"), noSync: true, clock: manualClock() };
    const [first, second] = [new LmdbEngine(options), new LmdbEngine(options)];
    const here = vi.spyOn(second, "commitSync").mockImplementation(() => {
      throw new Error("this would wait for ever");
    });
    await Promise.all([first.commit(next, manyWrites), second.commit(next)]);
    expect(here).not.toHaveBeenCalled();
    here.mockRestore();
    const again = vi.spyOn(second, "commitSync");
    await second.commit(next);
    expect(again).toHaveBeenCalledOnce();
    const view = second.open();
    view.close();
    expect(view.sequence).toBe(3);
    await first.close();
    await second.close();
  });

  it("uses a thread after a commit that took long to fail", async () => {
    const clock = manualClock();
    const engine = new LmdbEngine({ path: join(folder, "two.mdb"), noSync: true, clock });
    const failing = engine.commit(() => {
      clock.advance(60_000);
      throw new Error("the disk fails");
    });
    await expect(failing).rejects.toThrow("the disk fails");
    const here = vi.spyOn(engine, "commitSync");
    await engine.commit(next);
    expect(here).not.toHaveBeenCalled();
    await engine.close();
  });
});
