import type { FileHandle } from "./files/file-handle.ts";
import type { PipeHandle } from "./pipe/pipe-handle.ts";

/** An open of a session ([MS-SMB2] 3.3.1.10). */
export type Handle = FileHandle | PipeHandle;
