import { copyFileSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import type { EngineBatch, EngineReader } from "../engine.ts";
import { textOfKey } from "../../encoding/keys.ts";
import { StoreUnavailable } from "../store.ts";
import { silentLog } from "../../../tests/harness/silent-log.ts";
import { LmdbEngine } from "./lmdb-engine.ts";

const folder = mkdtempSync(join(tmpdir(), "file-in-place-"));
afterAll(() => rmSync(folder, { recursive: true }));

const key = new Uint8Array([7]);
const write = { key, text: textOfKey(key), value: key, revision: 1 };
const next = ({ sequence, ticks }: EngineReader): EngineBatch => ({
  sequence: sequence + 1,
  ticks,
  writes: [write],
});

function openEngine(name: string) {
  const path = join(folder, name);
  const error = vi.fn();
  const engine = new LmdbEngine({ path, noSync: false, log: { ...silentLog, error } });
  return { path, error, engine };
}

describe("a data file", () => {
  it("that was deleted rejects commits, with one log message", async () => {
    const { path, error, engine } = openEngine("deleted.mdb");
    await engine.commit(next);
    rmSync(path);
    await expect(engine.commit(next)).rejects.toBeInstanceOf(StoreUnavailable);
    const decide = vi.fn(next);
    await expect(engine.commit(decide)).rejects.toBeInstanceOf(StoreUnavailable);
    expect(decide).not.toHaveBeenCalled();
    expect(error).toHaveBeenCalledOnce();
    await engine.close();
  });

  it("that was replaced rejects commits until it is restored", async () => {
    const { path, engine } = openEngine("replaced.mdb");
    await engine.commit(next);
    renameSync(path, `${path}.away`);
    copyFileSync(`${path}.away`, path);
    await expect(engine.commit(next)).rejects.toBeInstanceOf(StoreUnavailable);
    renameSync(`${path}.away`, path);
    await engine.commit(next);
    await engine.close();
  });
});
