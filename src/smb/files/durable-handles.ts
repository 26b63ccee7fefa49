import type { SmbServerState } from "../server.ts";
import type { FileHandle } from "./file-handle.ts";

/** More than this are not kept; the oldest clients have the least to lose. */
const durablesMax = 4096;

interface DisconnectedHandle {
  readonly handle: FileHandle;
  readonly account: string;
  readonly cancel: () => void;
}

/** Handles whose connection was lost and which wait for their client to come back. */
export class DurableHandles {
  readonly #server: SmbServerState;
  readonly #kept = new Map<bigint, DisconnectedHandle>();

  constructor(server: SmbServerState) {
    this.#server = server;
  }

  /** False if the handle may not outlive its connection. */
  keep(handle: FileHandle): boolean {
    const { durable, session } = handle;
    if (durable === undefined || this.#kept.size >= durablesMax) return false;
    const { persistent } = handle.id;
    const cancel = this.#server.world.clock.after(durable.milliseconds, () => {
      if (this.#kept.delete(persistent)) this.#server.closeInBackground([handle]);
    });
    this.#kept.set(persistent, { handle, account: session.account, cancel });
    return true;
  }

  find(persistent: bigint): FileHandle | undefined {
    return this.#kept.get(persistent)?.handle;
  }

  accountOf(persistent: bigint): string | undefined {
    return this.#kept.get(persistent)?.account;
  }

  /** It was taken up again, or its time is over. */
  remove({ id }: FileHandle): void {
    this.#kept.get(id.persistent)?.cancel();
    this.#kept.delete(id.persistent);
  }

  /** A server that stops lets everything go. */
  async closeAll(): Promise<void> {
    const kept = Array.from(this.#kept.values());
    this.#kept.clear();
    for (const { cancel } of kept) cancel();
    await this.#server.handleCloser.close(kept.map(({ handle }) => handle));
  }
}
