import { closeFile, type ClosedFile } from "../file/filesystem/close.ts";
import { happened } from "./files/change-hub.ts";
import { ChangeAction } from "./files/directory-watch.ts";
import type { FileHandle } from "./files/file-handle.ts";
import type { Handle } from "./handle.ts";
import type { SmbServerState } from "./server.ts";
import type { Ending } from "./session-end.ts";

/** Ends a handle that no message closes. */
export async function closeHandle(
  server: SmbServerState,
  handle: Handle,
  ending: Ending,
): Promise<void> {
  if (handle.kind === "pipe") return;
  if (ending === "lost" && server.durables.keep(handle)) return;
  await closeFileHandle(server, handle);
}

export async function closeFileHandle(
  server: SmbServerState,
  handle: FileHandle,
): Promise<ClosedFile> {
  const { place, id } = handle;
  handle.watch?.close();
  server.caches.remove(handle);
  server.replays.remove(handle);
  const closed = await closeFile(server.world.runtime, place, id.persistent);
  if (closed.isGone && closed.node !== undefined) {
    server.changes.publish(place.share.id, [happened(ChangeAction.removed, closed.node)]);
  }
  if (closed.isPending) server.changes.deletePending(place.share.id, place.file);
  return closed;
}
