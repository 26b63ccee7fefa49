import { fstatSync, statSync } from "node:fs";
import type { Log } from "../../base/world.ts";
import { StoreUnavailable } from "../store.ts";

export interface FileIdentityOptions {
  readonly path: string;
  /** Descriptor of the open data file. */
  readonly descriptor: number;
  readonly log: Log | undefined;
}

/** Detects that a data file was deleted, moved or replaced under its path. Later commits to it
 *  would be lost with the process, although flushed. Checked after a commit and before its
 *  acknowledgement. */
export class FileIdentityCheck {
  readonly #options: FileIdentityOptions;
  #inode: number;
  #isLost = false;

  constructor(options: FileIdentityOptions) {
    this.#options = options;
    this.#inode = fstatSync(options.descriptor).ino;
  }

  /** Whether the last check found another file, or none, under the path. */
  get isLost(): boolean {
    return this.#isLost;
  }

  check(): void {
    const found = statSync(this.#options.path, { throwIfNoEntry: false });
    if (found?.ino === this.#inode) this.#isLost = false;
    else this.#compare();
  }

  /** Compares the file under the path with the open one. Reads the inode of both, because some
   *  network file systems change that of an open file. */
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
      const message =
        "data file was deleted or replaced; rejecting writes until restored or restarted";
      log?.error({ path }, message);
    }
    this.#isLost = true;
    throw new StoreUnavailable(`${path} was deleted or replaced while it was open`);
  }
}
