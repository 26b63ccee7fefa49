import { emptyResponse, type SmbResponse } from "../response.ts";
import type { SessionRequest } from "../request.ts";
import { endSession } from "../session-end.ts";

/** Ends the session. The response is still signed with its key. Durable handles stay open for a
 *  reconnect. */
export async function logoff({ connection, session }: SessionRequest): Promise<SmbResponse> {
  const signer = connection.channels.get(session.id)?.signer;
  await endSession(connection.server, session, "keep-durable");
  return { ...emptyResponse(), signer };
}
