import { Status, type NtStatus } from "../status.ts";
import { Writer } from "../wire/writer.ts";

/** What happened to a name ([MS-FSCC] 2.7.1). */
export const ChangeAction = {
  added: 1,
  removed: 2,
  modified: 3,
  renamedOld: 4,
  renamedNew: 5,
} as const;

/** What a client wants to hear of ([MS-SMB2] 2.2.35). */
export const ChangeFilter = {
  fileName: 0x1,
  directoryName: 0x2,
  attributes: 0x4,
  size: 0x8,
  lastWrite: 0x10,
  creation: 0x40,
  security: 0x100,
} as const;

export interface ReportedChange {
  readonly action: number;
  /** From the watched directory down. */
  readonly path: string;
}

export interface NotifyResult {
  readonly status: NtStatus;
  readonly data: Buffer;
}

interface PendingNotify {
  readonly bytesMax: number;
  readonly finish: (result: NotifyResult) => void;
}

const changesMax = 4096;
const waitersMax = 512;
const nothing = Buffer.alloc(0);

/**
 * What one handle hears of its directory. It listens from the first question on, also between
 * questions; what is too much to remember is answered with the advice to list the directory.
 */
export class DirectoryWatch {
  readonly directory: bigint;
  readonly filter: number;
  readonly watchesTree: boolean;
  readonly #unwatch: () => void;
  #changes: ReportedChange[] = [];
  #isTooMuch = false;
  /** What the first question had room for: more is never remembered. */
  #roomBytes: number | undefined;
  readonly #waiters: PendingNotify[] = [];

  constructor(
    wanted: { directory: bigint; filter: number; watchesTree: boolean },
    subscribe: (watch: DirectoryWatch) => () => void,
  ) {
    this.directory = wanted.directory;
    this.filter = wanted.filter;
    this.watchesTree = wanted.watchesTree;
    this.#unwatch = subscribe(this);
  }

  /** Requests that wait for a change. */
  get pendingRequests(): number {
    return this.#waiters.length;
  }

  report(changes: readonly ReportedChange[]): void {
    if (this.#changes.length + changes.length > changesMax) this.#isTooMuch = true;
    else this.#changes.push(...changes);
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) waiter.finish(this.#take(waiter.bytesMax));
  }

  /** More changes happened than are reported one by one. */
  overflow(): void {
    this.#isTooMuch = true;
    const waiter = this.#waiters.shift();
    if (waiter !== undefined) waiter.finish(this.#take(waiter.bytesMax));
  }

  /** Answers at once if something was heard; the result takes the question back. */
  addRequest(bytesMax: number, finish: (result: NotifyResult) => void): () => void {
    this.#roomBytes ??= bytesMax;
    if (this.#changes.length > 0 || this.#isTooMuch) {
      finish(this.#take(bytesMax));
      return () => {};
    }
    if (this.#waiters.length >= waitersMax) {
      finish({ status: Status.insufficientResources, data: nothing });
      return () => {};
    }
    const waiter = { bytesMax, finish };
    this.#waiters.push(waiter);
    return () => {
      const at = this.#waiters.indexOf(waiter);
      if (at >= 0) this.#waiters.splice(at, 1);
    };
  }

  endRequests(status: NtStatus): void {
    for (const waiter of this.#waiters.splice(0)) waiter.finish({ status, data: nothing });
  }

  close(): void {
    this.#unwatch();
    this.endRequests(Status.notifyCleanup);
  }

  #take(bytesMax: number): NotifyResult {
    const data = this.#isTooMuch
      ? undefined
      : encodeChanges(this.#changes, Math.min(bytesMax, this.#roomBytes ?? 0));
    this.#changes = [];
    this.#isTooMuch = false;
    return data === undefined
      ? { status: Status.notifyEnumDirectory, data: nothing }
      : { status: Status.success, data };
  }
}

const alignment = 4;

function encodeChanges(changes: readonly ReportedChange[], bytesMax: number): Buffer | undefined {
  const writer = new Writer();
  for (const [index, { action, path }] of changes.entries()) {
    const start = writer.length;
    const name = Buffer.from(path, "utf16le");
    writer.u32(0).u32(action).u32(name.length).bytes(name);
    if (index < changes.length - 1) writer.align(alignment).setU32(start, writer.length - start);
    if (writer.length > bytesMax) return undefined;
  }
  return writer.finish();
}
