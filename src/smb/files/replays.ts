import type { Connection } from "../connection.ts";
import type { FileHandle } from "./file-handle.ts";

/** An open that was answered and whose response the client has not yet shown to have received. */
export interface Replayable {
  readonly handle: FileHandle;
  /** The CreateAction of its response. */
  readonly action: number;
}

/**
 * Opens by client and create GUID. A client that lost the response to a CREATE sends it again over
 * another channel; it must not get a second handle that it never closes ([MS-SMB2] 3.3.5.9.10).
 */
export class Replays {
  readonly #opens = new Map<string, Replayable>();
  readonly #names = new Map<bigint, string>();
  readonly #pending = new Set<string>();

  /** `pending`: the original request is still running. */
  find(name: string): Replayable | "pending" | undefined {
    return this.#pending.has(name) ? "pending" : this.#opens.get(name);
  }

  begin(name: string): void {
    this.#pending.add(name);
  }

  finish(name: string): void {
    this.#pending.delete(name);
  }

  add(name: string, open: Replayable): void {
    this.#opens.set(name, open);
    this.#names.set(open.handle.id.persistent, name);
  }

  /**
   * The handle was closed, or named by a request: then its client has the response, and the same
   * CREATE again is a new open (Open.IsReplayEligible becomes FALSE).
   */
  remove({ id }: FileHandle): void {
    if (this.#names.size === 0) return;
    const name = this.#names.get(id.persistent);
    if (name === undefined) return;
    this.#names.delete(id.persistent);
    this.#opens.delete(name);
  }
}

/** Create GUIDs are unique per client only. */
export function replayName({ negotiated }: Connection, createGuid: string): string {
  return `${negotiated?.clientGuid.toString("hex") ?? ""}:${createGuid}`;
}
