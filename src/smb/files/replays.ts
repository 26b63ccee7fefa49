import type { Connection } from "../connection.ts";
import type { FileHandle } from "./file-handle.ts";

/** An open whose CREATE was answered, while it is not known whether the client received the
 *  response. */
export interface ReplayableOpen {
  readonly handle: FileHandle;
  /** CreateAction of the response. */
  readonly action: number;
}

/** Opens by client and create GUID. A client that did not receive the response to a CREATE sends
 *  the request again over another channel. It must get the same handle, not a second one that it
 *  would never close ([MS-SMB2] 3.3.5.9.10). */
export class Replays {
  readonly #opens = new Map<string, ReplayableOpen>();
  readonly #names = new Map<bigint, string>();
  readonly #pending = new Set<string>();

  /** The open that a CREATE with this GUID has made before; `pending` if that CREATE is still
   *  running. */
  find(name: string): ReplayableOpen | "pending" | undefined {
    return this.#pending.has(name) ? "pending" : this.#opens.get(name);
  }

  begin(name: string): void {
    this.#pending.add(name);
  }

  finish(name: string): void {
    this.#pending.delete(name);
  }

  add(name: string, open: ReplayableOpen): void {
    this.#opens.set(name, open);
    this.#names.set(open.handle.id.persistent, name);
  }

  /** Called when a handle is closed or used by a request. Then its client has received the
   *  response, and another CREATE with this GUID is a new open (Open.IsReplayEligible becomes
   *  FALSE). */
  remove({ id }: FileHandle): void {
    if (this.#names.size === 0) return;
    const name = this.#names.get(id.persistent);
    if (name === undefined) return;
    this.#names.delete(id.persistent);
    this.#opens.delete(name);
  }
}

/** Key of an open in `Replays`. Create GUIDs are unique only per client. */
export function replayKey({ clientId }: Connection, createGuid: string): string {
  return `${clientId}:${createGuid}`;
}
