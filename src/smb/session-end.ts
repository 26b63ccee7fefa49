import type { Channel, Session } from "./session.ts";
import type { FileHandle } from "./files/file-handle.ts";
import type { SmbServerState } from "./server.ts";

/**
 * What happens to the handles of a session that ends. `close`: every handle is closed, because an
 * administrator ended the session or its authentication failed. `keep-durable`: durable handles
 * stay open so that the client can reconnect to them; all others are closed. This applies after a
 * lost connection, after LOGOFF, and if a new session of the same account names this one as its
 * PreviousSessionId.
 */
type HandleDisposition = "close" | "keep-durable";

/** Ends a session with its channels, tree connects, pending requests and handles. */
export async function endSession(
  server: SmbServerState,
  session: Session,
  disposition: HandleDisposition,
): Promise<void> {
  session.isValid = false;
  session.cancelPending();
  if (server.sessions.get(session.id) === session) server.sessions.delete(session.id);
  for (const channel of session.channels) channel.connection.removeChannel(channel);
  session.channels.clear();
  const files: FileHandle[] = [];
  for (const handle of session.handles.values()) {
    if (handle.kind === "pipe") continue;
    if (disposition === "keep-durable" && server.durableHandles.keep(handle)) continue;
    files.push(handle);
  }
  session.handles.clear();
  session.trees.clear();
  await server.handleCloser.close(files);
}

/** Removes a channel from its session; the session ends with its last valid channel. */
export async function removeChannel(server: SmbServerState, channel: Channel): Promise<void> {
  const { session, connection } = channel;
  session.channels.delete(channel);
  connection.removeChannel(channel);
  if ([...session.channels].some(({ isValid }) => isValid)) return;
  await endSession(server, session, "keep-durable");
}
