import type { FileId } from "../response.ts";
import type { TreeConnect } from "../tree.ts";

/** A pipe to a service of the server: what is written is a call, what is read its answer. */
export interface PipeHandle {
  readonly kind: "pipe";
  readonly id: FileId;
  readonly tree: TreeConnect;
  readonly name: string;
  /** Not read yet. */
  pending: Buffer;
  /** A part of the first fragment was read, and this much of it is left. */
  isMidFragment: boolean;
  fragmentBytesLeft: number;
}

export const pipeNames: ReadonlySet<string> = new Set(["srvsvc"]);
export const pipeBytesMax = 1024 * 1024;
