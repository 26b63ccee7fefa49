import type { SmbServerState } from "../server.ts";
import type { FileHandle } from "./file-handle.ts";

/** Durable handles without a connection, of all clients. Beyond this, handles of a lost connection
 *  are closed at once. */
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

  /** Keeps the handle of a lost connection for a reconnect. False if it is not durable or the limit
   *  is reached; then the caller closes it. */
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

  /** Called when the handle is reconnected or closed: stops its time-out. */
  remove({ id }: FileHandle): void {
    this.#disconnected.get(id.persistent)?.cancel();
    this.#disconnected.delete(id.persistent);
  }

  /** Closes all durable handles without a connection, when the server stops. */
  async closeAll(): Promise<void> {
    const disconnected = Array.from(this.#disconnected.values());
    this.#disconnected.clear();
    for (const { cancel } of disconnected) cancel();
    await this.#server.handleCloser.close(disconnected.map(({ handle }) => handle));
  }
}
