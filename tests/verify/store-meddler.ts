import { textOfKey } from "../../src/store/key-text.ts";
import { LmdbEngine } from "../../src/store/lmdb/lmdb-engine.ts";
import type { Random } from "./random.ts";

const firstTag = 0x20;
const lastTag = 0x5f;
const keysPerCommitMax = 200;
const commits = 10;
const stallMillisecondsMax = 600;

/** Another process on the same data folder that gets in the way of commits. */
export class StoreMeddler {
  readonly #path: string;
  #engine: LmdbEngine | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Writes what is there once more, as it is: whoever has read it and is about to commit has lost
   *  a race against somebody. */
  async conflict(random: Random): Promise<void> {
    for (let count = 0; count < commits; count += 1) {
      const tag = firstTag + random.below(lastTag - firstTag);
      await this.#opened().commit((current) => {
        const sequence = current.sequence + 1;
        const bounds = { start: textOfKey(Uint8Array.of(tag)), end: "\u0060", reverse: false };
        const found = current.scan(bounds, keysPerCommitMax);
        const writes = found.map(({ key, text, value }) => ({ key, text, value, stamp: sequence }));
        return { sequence, ticks: current.ticks, writes };
      });
    }
  }

  /** Nobody commits anything for a while, as if the disk took its time. */
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

  #opened(): LmdbEngine {
    this.#engine ??= new LmdbEngine({ path: this.#path, noSync: false });
    return this.#engine;
  }
}
