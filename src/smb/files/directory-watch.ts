import { Status, type NtStatus } from "../status.ts";
import { Writer } from "../wire/buffers.ts";

/** CHANGE_NOTIFY, with which clients wait for changes in a directory: the watch of one handle, and
 *  the encoding of its responses. `change-dispatcher.ts` reports changes to it. */

/** What happened to a directory entry (FILE_NOTIFY_INFORMATION, [MS-FSCC] 2.7.1). */
export const ChangeAction = {
  added: 1,
  removed: 2,
  modified: 3,
  renamedOld: 4,
  renamedNew: 5,
} as const;

/** The kinds of change that a CHANGE_NOTIFY request asks for (CompletionFilter, [MS-SMB2]
 *  2.2.35). */
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
  /** The path relative to the watched directory. */
  readonly path: string;
}

export interface NotifyResult {
  readonly status: NtStatus;
  readonly data: Buffer;
}

/** A CHANGE_NOTIFY request that waits for a change. */
interface PendingNotify {
  readonly bytesMax: number;
  readonly finish: (result: NotifyResult) => void;
}

/** Most changes collected for one handle; beyond it they are dropped, and the next response is
 *  STATUS_NOTIFY_ENUM_DIR, on which the client lists the directory again. */
const changesMax = 4096;
/** Most pending CHANGE_NOTIFY requests on one handle; further ones fail. */
const pendingMax = 512;
const nothing = Buffer.alloc(0);

/** The CHANGE_NOTIFY state of one directory handle. It collects changes from the first request on,
 *  even while no request is pending. If they exceed the buffer of the client, the next response is
 *  STATUS_NOTIFY_ENUM_DIR, and the client lists the directory again. */
export class DirectoryWatch {
  readonly directory: bigint;
  readonly filter: number;
  readonly watchesTree: boolean;
  readonly #unwatch: () => void;
  #changes: ReportedChange[] = [];
  #hasOverflowed = false;
  /** OutputBufferLength of the first request, which limits every response. */
  #bufferBytes: number | undefined;
  readonly #pending: PendingNotify[] = [];

  constructor(
    options: { directory: bigint; filter: number; watchesTree: boolean },
    subscribe: (watch: DirectoryWatch) => () => void,
  ) {
    this.directory = options.directory;
    this.filter = options.filter;
    this.watchesTree = options.watchesTree;
    this.#unwatch = subscribe(this);
  }

  get pendingRequests(): number {
    return this.#pending.length;
  }

  report(changes: readonly ReportedChange[]): void {
    if (this.#changes.length + changes.length > changesMax) this.#hasOverflowed = true;
    else this.#changes.push(...changes);
    this.#completeNext();
  }

  /** Discards the collected changes: the next response is STATUS_NOTIFY_ENUM_DIR. */
  overflow(): void {
    this.#hasOverflowed = true;
    this.#completeNext();
  }

  /** Adds a CHANGE_NOTIFY request. It completes at once if changes were collected. The returned
   *  function removes the request. */
  addRequest(bytesMax: number, finish: (result: NotifyResult) => void): () => void {
    this.#bufferBytes ??= bytesMax;
    if (this.#changes.length > 0 || this.#hasOverflowed) {
      finish(this.#takeResult(bytesMax));
      return () => {};
    }
    if (this.#pending.length >= pendingMax) {
      finish({ status: Status.insufficientResources, data: nothing });
      return () => {};
    }
    const pending = { bytesMax, finish };
    this.#pending.push(pending);
    return () => {
      const at = this.#pending.indexOf(pending);
      if (at >= 0) this.#pending.splice(at, 1);
    };
  }

  /** Completes all pending requests with this status. */
  endRequests(status: NtStatus): void {
    for (const pending of this.#pending.splice(0)) pending.finish({ status, data: nothing });
  }

  close(): void {
    this.#unwatch();
    this.endRequests(Status.notifyCleanup);
  }

  #completeNext(): void {
    const pending = this.#pending.shift();
    pending?.finish(this.#takeResult(pending.bytesMax));
  }

  #takeResult(bytesMax: number): NotifyResult {
    const data = this.#hasOverflowed
      ? undefined
      : encodeChanges(this.#changes, Math.min(bytesMax, this.#bufferBytes ?? 0));
    this.#changes = [];
    this.#hasOverflowed = false;
    return data === undefined
      ? { status: Status.notifyEnumDirectory, data: nothing }
      : { status: Status.success, data };
  }
}

const alignment = 4;

/** The data of a response; undefined if it is larger than `bytesMax`. */
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
