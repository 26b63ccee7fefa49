import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, it, vi } from "vitest";

import { bytes, k } from "../../../tests/harness/store/store-steps.ts";
import type { EngineBatch, EngineReader, EngineWrite } from "../engine.ts";
import { textOfKey } from "../../encoding/keys.ts";
import { StoreBusy } from "../store.ts";
import type { Key } from "../store.ts";
import { LmdbEngine } from "./lmdb-engine.ts";
import { OverlayEngine, volatileRange } from "./overlay-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "overlaid-files-"));
afterAll(() => rmSync(folder, { recursive: true }));

let count = 0;
function openBoth() {
  count += 1;
  const durable = new LmdbEngine({ path: join(folder, `${count}.mdb`), noSync: true });
  const passing = new LmdbEngine({ path: join(folder, `${count}-passing.mdb`), noSync: true });
  const engine = new OverlayEngine(durable, passing, volatileRange(k("volatile")));
  return { durable, passing, engine };
}

const names = Array.from({ length: 20 }, (_, index) => k("volatile", index));
const writing = (keys: readonly Key[], value: Uint8Array | undefined) => {
  const writesAt = (revision: number): EngineWrite[] =>
    keys.map((key) => ({ key, text: textOfKey(key), value, revision }));
  return ({ sequence, ticks }: EngineReader): EngineBatch => {
    return { sequence: sequence + 1, ticks, writes: writesAt(sequence + 1) };
  };
};

describe("an overlay of two files", () => {
  it("removes nothing from the durable file in a commit without a new sequence", async () => {
    const { engine, durable } = openBoth();
    await engine.commit(writing([k("kept"), ...names], bytes("open")));
    await engine.commit(writing(names, undefined));
    await engine.commit(writing([k("kept")], bytes("1")));
    let batch: EngineBatch | undefined;
    const commit = durable.commit.bind(durable);
    vi.spyOn(durable, "commit").mockImplementation((decide) =>
      commit((current) => (batch = decide(current))),
    );
    await engine.commit(({ sequence, ticks }) => ({
      sequence,
      ticks,
      priorityOwner: 7,
      writes: [],
    }));
    expect(batch?.writes).toEqual([]);
    await engine.commit(writing([k("kept")], bytes("2")));
    expect(batch?.writes.length).toBeGreaterThan(1);
    await engine.close();
  });

  it("reconciles overlapping keys as fast as large batches create them", async () => {
    const { engine, durable, passing } = openBoth();
    for (let round = 0; round < 30; round += 1) {
      const keys = names.map((_, index) => k("volatile", round, index));
      await engine.commit(writing([k("kept"), ...keys], bytes("open")));
      await engine.commit(writing(keys, undefined));
    }
    for (const file of [durable, passing]) {
      const view = file.open();
      const found = view.scan({ ...volatileRange(k("volatile")), reverse: false }, 10_000);
      view.close();
      expect(found.length).toBeLessThanOrEqual(2 * names.length);
    }
    await engine.close();
  });

  it("leaves no view open if one of the files cannot be opened", async () => {
    const { engine, durable, passing } = openBoth();
    const view = durable.open();
    const close = vi.spyOn(view, "close");
    vi.spyOn(durable, "open").mockReturnValueOnce(view);
    vi.spyOn(passing, "open").mockImplementationOnce(() => {
      throw new StoreBusy("too many readers");
    });
    expect(() => engine.open()).toThrow(StoreBusy);
    expect(close).toHaveBeenCalledOnce();
    await engine.close();
  });
});
