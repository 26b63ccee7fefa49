import { closeHandle } from "./handle-end.ts";
import type { SmbServerState } from "./server.ts";
import type { Session } from "./session.ts";

/** `closed`: the client said so. `lost`: it may come back for what it may keep. */
export type Ending = "closed" | "lost";

/** Everything that hangs on a session goes with it. */
export async function endSession(
  server: SmbServerState,
  session: Session,
  ending: Ending,
): Promise<void> {
  session.isValid = false;
  server.sessions.delete(session.id);
  const handles = [...session.handles.values()];
  session.handles.clear();
  session.trees.clear();
  // Side by side, so that they share their commits.
  await Promise.all(handles.map((handle) => closeHandle(server, handle, ending)));
}
