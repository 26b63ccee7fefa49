import type { Channel } from "./channel.ts";
import type { FileHandle } from "./files/file-handle.ts";
import type { SmbServerState } from "./server.ts";
import type { Session } from "./session.ts";

/** `closed`: the client said so. `lost`: it may come back for what it may keep. */
export type HandleDisposition = "closed" | "lost";

/** Everything that hangs on a session goes with it. */
export async function endSession(
  server: SmbServerState,
  session: Session,
  ending: HandleDisposition,
): Promise<void> {
  session.isValid = false;
  session.cancelPending();
  if (server.sessions.get(session.id) === session) server.sessions.delete(session.id);
  for (const channel of session.channels) channel.connection.removeChannel(channel);
  session.channels.clear();
  const files: FileHandle[] = [];
  for (const handle of session.handles.values()) {
    if (handle.kind === "pipe") continue;
    if (ending === "lost" && server.durableHandles.keep(handle)) continue;
    files.push(handle);
  }
  session.handles.clear();
  session.trees.clear();
  await server.handleCloser.close(files);
}

/** A connection carries the session no longer; the last one that did takes it along. */
export async function removeChannel(server: SmbServerState, channel: Channel): Promise<void> {
  const { session, connection } = channel;
  session.channels.delete(channel);
  connection.removeChannel(channel);
  if ([...session.channels].some(({ isValid }) => isValid)) return;
  await endSession(server, session, "lost");
}
