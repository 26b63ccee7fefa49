import { fstatSync, statSync } from "node:fs";
import type { Log } from "../../base/world.ts";
import { StoreUnavailable } from "../store.ts";

export interface FileInPlaceOptions {
  readonly path: string;
  /** Of the file that is open. */
  readonly descriptor: number;
  readonly log: Log | undefined;
}

/**
 * Notices that a data file was deleted, moved or replaced under its path. What is committed to it
 * from then on would be lost with the process, however well it was flushed. To be asked after a
 * commit and before it is acknowledged.
 */
export class FileInPlace {
  readonly #options: FileInPlaceOptions;
  #inode: number;
  #isLost = false;

  constructor(options: FileInPlaceOptions) {
    this.#options = options;
    this.#inode = fstatSync(options.descriptor).ino;
  }

  /** The last look found another file, or none. */
  get isLost(): boolean {
    return this.#isLost;
  }

  expect(): void {
    const found = statSync(this.#options.path, { throwIfNoEntry: false });
    if (found?.ino === this.#inode) this.#isLost = false;
    else this.#compare();
  }

  /** Some network file systems give an open file another number: both are looked at anew. */
  #compare(): void {
    const { path, descriptor, log } = this.#options;
    const found = statSync(path, { throwIfNoEntry: false });
    const own = fstatSync(descriptor);
    if (found !== undefined && found.ino === own.ino && found.dev === own.dev) {
      this.#inode = own.ino;
      this.#isLost = false;
      return;
    }
    if (!this.#isLost) {
      const message = "data file was deleted or replaced: writes are refused until a restart";
      log?.error({ path }, message);
    }
    this.#isLost = true;
    throw new StoreUnavailable(`${path} was deleted or replaced while it was open`);
  }
}
