import type { Request } from "../request.ts";
import type { SmbResponse } from "../response.ts";
import { Status } from "../status.ts";
import { headerBytes } from "../wire/header.ts";
import { decodeIoctl } from "../wire/ioctl.ts";
import { Command } from "../wire/protocol.ts";
import { statusName } from "./audit-entry.ts";

/** The number of bytes in a READ or WRITE response ([MS-SMB2] 2.2.20, 2.2.22). */
const bytesOffset = headerBytes + 4;
/** FSCTL_SRV_COPYCHUNK and FSCTL_SRV_COPYCHUNK_WRITE. */
const copyCodes: ReadonlySet<number> = new Set([0x0014_40f2, 0x0014_80f2]);
/** Bytes from the end of a copy response at which the number of copied bytes is. */
const copiedFromEnd = 4;

const commandNames: Readonly<Record<number, string>> = {
  [Command.read]: "READ",
  [Command.write]: "WRITE",
  [Command.lock]: "LOCK",
  [Command.ioctl]: "IOCTL",
};

/** What was done through one handle. */
export class HandleCounts {
  #readBytes = 0;
  #writtenBytes = 0;
  #locks = 0;
  /** Numbers of rejected requests, by command and status. */
  readonly #rejected = new Map<string, number>();

  add({ header: { command }, message }: Request, response: SmbResponse): void {
    const name = commandNames[command];
    if (name === undefined) return;
    const { status } = response;
    if (status !== Status.success) {
      // The end of a file is found by reading up to it.
      if (status === Status.endOfFile) return;
      const key = `${name} ${statusName(status)}`;
      this.#rejected.set(key, (this.#rejected.get(key) ?? 0) + 1);
      return;
    }
    if (command === Command.read) this.#readBytes += response.message.readUInt32LE(bytesOffset);
    if (command === Command.write) this.#writtenBytes += response.message.readUInt32LE(bytesOffset);
    if (command === Command.lock) this.#locks += 1;
    if (command === Command.ioctl) this.#writtenBytes += copiedBytes(message, response);
  }

  details(): object {
    return {
      readBytes: this.#readBytes,
      writtenBytes: this.#writtenBytes,
      ...(this.#locks > 0 && { locks: this.#locks }),
      ...(this.#rejected.size > 0 && { rejected: Object.fromEntries(this.#rejected) }),
    };
  }
}

function copiedBytes(message: Buffer, { message: response }: SmbResponse): number {
  const code = decodeIoctl(message)?.code;
  if (code === undefined || !copyCodes.has(code)) return 0;
  return response.readUInt32LE(response.length - copiedFromEnd);
}
