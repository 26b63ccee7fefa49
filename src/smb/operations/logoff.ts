import { emptyResponse, type SmbResponse } from "../response.ts";
import type { SessionRequest } from "../request.ts";
import { endSession } from "../session-end.ts";

/** The response is still signed with the session's key. Durable handles outlive the session. */
export async function logoff({ connection, session }: SessionRequest): Promise<SmbResponse> {
  const signer = connection.channels.get(session.id)?.signer;
  await endSession(connection.server, session, "keep-durable");
  return { ...emptyResponse(), signer };
}
