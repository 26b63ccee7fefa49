import type { FileHandle } from "./files/file-handle.ts";
import type { PipeHandle } from "./pipe/pipe-handle.ts";

/** What a client has open in a session. */
export type Handle = FileHandle | PipeHandle;
