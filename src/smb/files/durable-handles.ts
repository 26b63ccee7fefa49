import type { SmbServerState } from "../server.ts";
import type { FileHandle } from "./file-handle.ts";

/** Beyond this, handles of lost connections are closed. */
const durablesMax = 4096;

interface DisconnectedHandle {
  readonly handle: FileHandle;
  readonly account: string;
  readonly cancel: () => void;
}

/** Durable handles whose connection was lost, until a reconnect or their time-out. */
export class DurableHandles {
  readonly #server: SmbServerState;
  readonly #disconnected = new Map<bigint, DisconnectedHandle>();

  constructor(server: SmbServerState) {
    this.#server = server;
  }

  /** False if the handle is not durable or the limit is reached. */
  keep(handle: FileHandle): boolean {
    const { durable, session } = handle;
    if (durable === undefined || this.#disconnected.size >= durablesMax) return false;
    const { persistent } = handle.id;
    const cancel = this.#server.world.clock.after(durable.milliseconds, () => {
      if (this.#disconnected.delete(persistent)) this.#server.closeInBackground([handle]);
    });
    this.#disconnected.set(persistent, { handle, account: session.account, cancel });
    return true;
  }

  find(persistent: bigint): FileHandle | undefined {
    return this.#disconnected.get(persistent)?.handle;
  }

  accountOf(persistent: bigint): string | undefined {
    return this.#disconnected.get(persistent)?.account;
  }

  /** Stops the time-out: the handle was reconnected or is being closed. */
  remove({ id }: FileHandle): void {
    this.#disconnected.get(id.persistent)?.cancel();
    this.#disconnected.delete(id.persistent);
  }

  /** Closes all of them when the server stops. */
  async closeAll(): Promise<void> {
    const disconnected = Array.from(this.#disconnected.values());
    this.#disconnected.clear();
    for (const { cancel } of disconnected) cancel();
    await this.#server.handleCloser.close(disconnected.map(({ handle }) => handle));
  }
}
