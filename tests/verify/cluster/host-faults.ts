import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, copyFileSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { newFolder } from "../../postgres/database.ts";

/** The fields of `struct control` in host-faults.c, each of 8 bytes. */
const fields = { clockOffset: 0, isFailing: 8, failures: 16, flushes: 24 } as const;
const fieldBytes = 8;
const nanosecondsPerMillisecond = 1_000_000n;
/** Built by scripts/verify.mjs. */
const library = join(import.meta.dirname, "host-faults.so");

/** The wall clock and the disk of the host of a database, for all processes that run there. */
export class HostFaults {
  /** The words before a command that runs on this host; it becomes the process. */
  readonly within: readonly string[];
  /** Of the control file, and of a copy of the library that PostgreSQL's user can read. */
  readonly folder = newFolder();
  readonly #control: number;

  constructor() {
    const [control, preloaded] = [join(this.folder, "control"), join(this.folder, "faults.so")];
    copyFileSync(library, preloaded);
    this.#control = openSync(control, "w+");
    for (const at of Object.values(fields)) this.#write(at, 0n);
    execFileSync("chown", ["--reference", this.folder, control]);
    chmodSync(preloaded, 0o755);
    this.within = ["env", `LD_PRELOAD=${preloaded}`, `ETAGERE_HOST_FAULTS=${control}`];
  }

  /** By how much the clock of the host is ahead. */
  setClock(aheadMilliseconds: number): void {
    this.#write(fields.clockOffset, BigInt(aheadMilliseconds) * nanosecondsPerMillisecond);
  }

  /** Whether each flush fails, and loses the bytes that wait for it. */
  setFailing(isFailing: boolean): void {
    this.#write(fields.isFailing, isFailing ? 1n : 0n);
  }

  /** Flushes that failed so far. */
  get failures(): number {
    const bytes = Buffer.alloc(fieldBytes);
    readSync(this.#control, bytes, { position: fields.failures });
    return Number(bytes.readBigInt64LE());
  }

  close(): void {
    closeSync(this.#control);
  }

  #write(at: number, value: bigint): void {
    const bytes = Buffer.alloc(fieldBytes);
    bytes.writeBigInt64LE(value);
    writeSync(this.#control, bytes, 0, fieldBytes, at);
  }
}
