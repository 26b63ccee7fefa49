import { closeFile, type ClosedFile } from "../file/filesystem/close.ts";
import type { FileHandle } from "./files/file-handle.ts";
import type { Handle } from "./handle.ts";
import type { SmbServerState } from "./server.ts";
import type { Ending } from "./session-end.ts";

/** Ends a handle that no message closes. */
export async function closeHandle(
  server: SmbServerState,
  handle: Handle,
  _ending: Ending,
): Promise<void> {
  if (handle.kind === "file") await closeFileHandle(server, handle);
}

export async function closeFileHandle(
  server: SmbServerState,
  handle: FileHandle,
): Promise<ClosedFile> {
  handle.watch?.close();
  server.caches.remove(handle);
  const closed = await closeFile(server.world.runtime, handle.place, handle.id.persistent);
  return closed;
}
