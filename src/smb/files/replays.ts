import type { Connection } from "../connection.ts";
import type { FileHandle } from "./file-handle.ts";

/** An open that was answered, and with what. */
export interface Made {
  readonly handle: FileHandle;
  readonly body: Buffer;
}

/**
 * Opens by the name that their client gave them. A client that lost the answer to an open asks
 * again over another connection; it must not get a second handle that it never closes
 * ([MS-SMB2] 3.3.5.9.10).
 */
export class Replays {
  readonly #made = new Map<string, Made>();
  readonly #names = new Map<bigint, string>();
  readonly #making = new Set<string>();

  /** What was made under a name, or that it is just being made. */
  find(name: string): Made | "in-progress" | undefined {
    return this.#making.has(name) ? "in-progress" : this.#made.get(name);
  }

  begin(name: string): void {
    this.#making.add(name);
  }

  finish(name: string): void {
    this.#making.delete(name);
  }

  add(name: string, made: Made): void {
    this.#made.set(name, made);
    this.#names.set(made.handle.id.persistent, name);
  }

  remove({ id }: FileHandle): void {
    const name = this.#names.get(id.persistent);
    if (name === undefined) return;
    this.#names.delete(id.persistent);
    this.#made.delete(name);
  }
}

/** Clients name their opens each for itself. */
export function replayName({ negotiated }: Connection, createGuid: string): string {
  return `${negotiated?.clientGuid.toString("hex") ?? ""}:${createGuid}`;
}
