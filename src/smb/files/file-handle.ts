import type { FileId } from "../answer.ts";
import type { Tree } from "../tree.ts";

/** A file or directory that a client has open. */
export interface FileHandle {
  readonly kind: "file";
  readonly id: FileId;
  readonly tree: Tree;
}
