import { readdirSync } from "node:fs";
import { join } from "node:path";
import { locks } from "../../src/file/records.ts";
import { textOfKey } from "../../src/encoding/keys.ts";
import { LmdbEngine } from "../../src/store/lmdb/lmdb-engine.ts";
import { OverlayEngine, volatileRange } from "../../src/store/lmdb/overlay-engine.ts";
import type { Random } from "./random.ts";

const firstTag = 0x20;
const lastTag = 0x5f;
const keysPerCommitMax = 200;
const commits = 10;
const stallMillisecondsMax = 600;

/** Another process on the same data folder that interferes with commits. */
export class StoreMeddler {
  readonly #folder: string;
  #engine: OverlayEngine | undefined;

  /** The folder of the store inside a location. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Rewrites existing values, so that attempts that have read them conflict. */
  async conflict(random: Random): Promise<void> {
    for (let count = 0; count < commits; count += 1) {
      const tag = firstTag + random.below(lastTag - firstTag);
      await this.#opened().commit((current) => {
        const sequence = current.sequence + 1;
        const bounds = { start: textOfKey(Uint8Array.of(tag)), end: "\u0060", reverse: false };
        const found = current.scan(bounds, keysPerCommitMax);
        const writes = found.map(({ key, text, value }) => ({
          key,
          text,
          value,
          revision: sequence,
        }));
        return { sequence, ticks: current.ticks, writes };
      });
    }
  }

  /** Holds the write lock for a while, as a slow disk would. */
  async stall(random: Random): Promise<void> {
    const milliseconds = random.below(stallMillisecondsMax);
    await this.#opened().commit(() => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
      return undefined;
    });
  }

  async close(): Promise<void> {
    await this.#engine?.close();
  }

  /** Opened as the servers do: volatile keys are in a second file. */
  #opened(): OverlayEngine {
    this.#engine ??= new OverlayEngine(
      new LmdbEngine({ path: join(this.#folder, "store.mdb"), noSync: false }),
      new LmdbEngine({ path: this.#passing(), noSync: true }),
      volatileRange(locks.prefix([])),
    );
    return this.#engine;
  }

  #passing(): string {
    const isPassing = (name: string): boolean => /^ephemeral-.*\.mdb$/.test(name);
    return join(this.#folder, readdirSync(this.#folder).find(isPassing) ?? "");
  }
}
