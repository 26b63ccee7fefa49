import { WireClient, type Answered, type Handle } from "../../tests/smb-wire/wire-client.ts";
import {
  Access,
  close,
  lockBody,
  openFile,
  setDeletePending,
} from "../../tests/smb-wire/wire-messages.ts";

/** Share modes: what other clients may do while the file is open. */
export const Share = { nothing: 0, readingAndWriting: 3, everything: 7 } as const;

const lockCommand = 10;
const exclusivelyAtOnce = 0x12;
const unlocking = 4;

/** A small SMB client: opens, byte-range locks and delete-pending. */
export class SmbSession {
  readonly #client: WireClient;

  private constructor(client: WireClient) {
    this.#client = client;
  }

  static async open(smbUrl: string, share: string): Promise<SmbSession> {
    return new SmbSession(await WireClient.ready(smbUrl, share));
  }

  open(path: string, share: number): Promise<Handle> {
    return openFile(this.#client, path, { access: Access.all, share });
  }

  async close(handle: Handle): Promise<void> {
    mustSucceed(await close(this.#client, handle));
  }

  async lock(handle: Handle, at: number, length: number): Promise<void> {
    const body = lockBody(handle, { at, length, flags: exclusivelyAtOnce });
    mustSucceed(await this.#client.ask(lockCommand, body));
  }

  async unlock(handle: Handle, at: number, length: number): Promise<void> {
    const body = lockBody(handle, { at, length, flags: unlocking });
    mustSucceed(await this.#client.ask(lockCommand, body));
  }

  async markForDeletion(handle: Handle, isPending: boolean): Promise<void> {
    mustSucceed(await setDeletePending(this.#client, handle, isPending));
  }

  end(): void {
    this.#client.end();
  }
}

function mustSucceed({ status }: Answered): void {
  if (status !== 0) throw new Error(`SMB status ${status.toString(16)}`);
}
