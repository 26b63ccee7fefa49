import type { Handle } from "./handle.ts";
import type { SmbServerState } from "./server.ts";
import type { Ending } from "./session-end.ts";

/** Ends a handle that no message closes. */
export async function closeHandle(
  _server: SmbServerState,
  handle: Handle,
  _ending: Ending,
): Promise<void> {
  if (handle.kind === "pipe") return;
}
