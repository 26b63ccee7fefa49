import type { FileHandle } from "./files/file-handle.ts";
import type { PipeHandle } from "./pipe/rpc.ts";

/** What a FileId refers to: an open of a file, directory or named pipe ([MS-SMB2] 3.3.1.10). */
export type Handle = FileHandle | PipeHandle;
