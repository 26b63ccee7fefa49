import type { FileId } from "../response.ts";
import type { TreeConnect } from "../tree.ts";

/** An open named pipe: a WRITE carries a request PDU, a READ returns its reply. */
export interface PipeHandle {
  readonly kind: "pipe";
  readonly id: FileId;
  readonly tree: TreeConnect;
  readonly name: string;
  /** Reply bytes not read yet. */
  pending: Buffer;
  /** Whether a READ ended inside the first fragment of `pending`, of which `fragmentBytesLeft`
   *  bytes remain. */
  isMidFragment: boolean;
  fragmentBytesLeft: number;
}

export const pipeNames: ReadonlySet<string> = new Set(["srvsvc"]);
/** Unread reply bytes of one pipe. */
export const pipeBytesMax = 1024 * 1024;
