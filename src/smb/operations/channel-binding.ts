import { Channel } from "../channel.ts";
import type { NegotiatedParameters } from "../connection.ts";
import type { Signer } from "../crypto/signing.ts";
import { channelsMax, sessionsMax } from "../limits.ts";
import type { Request } from "../request.ts";
import type { Session } from "../session.ts";
import { Status, type NtStatus } from "../status.ts";
import { Dialect, HeaderFlag, SigningAlgorithm } from "../wire/protocol.ts";

/** Binds a channel to a session of another connection ([MS-SMB2] 3.3.5.5). */
export function bindChannel(request: Request): Channel | NtStatus {
  const { connection, header } = request;
  const session = connection.server.sessions.get(header.sessionId);
  if (session === undefined) return Status.userSessionDeleted;
  const wrong = checkBinding(request, session);
  if (wrong !== undefined) return wrong;
  const begun = connection.channels.get(session.id);
  if (begun !== undefined) return begun.isValid ? Status.requestNotAccepted : begun;
  if (session.channels.size >= channelsMax || connection.channels.size >= sessionsMax) {
    return Status.insufficientResources;
  }
  const channel = new Channel(session, connection);
  session.channels.add(channel);
  connection.channels.set(session.id, channel);
  return channel;
}

/** The status of a binding that is not allowed. Clients can observe the order of the checks. An
 *  unsigned request is rejected, because only a signature with the key of the session proves the
 *  right to bind. */
function checkBinding({ connection, header }: Request, session: Session): NtStatus | undefined {
  const here = connection.negotiated;
  if (here === undefined) return Status.requestNotAccepted;
  const there = session.negotiated;
  if (algorithmOf(here) !== algorithmOf(there)) {
    if (algorithmOf(there) === SigningAlgorithm.aesGmac) return Status.requestOutOfSequence;
    if (algorithmOf(here) === SigningAlgorithm.aesGmac) return Status.notSupported;
  }
  if (here.dialect < Dialect.v300) return Status.requestNotAccepted;
  const isSigned = (header.flags & HeaderFlag.signed) !== 0;
  const isAlike = here.dialect === there.dialect && here.cipher === there.cipher;
  return isSigned && isAlike ? undefined : Status.invalidParameter;
}

/** The signing algorithm in use: only dialect 3.1.1 negotiates it. */
function algorithmOf({ dialect, signingAlgorithm }: NegotiatedParameters): number {
  if (dialect === Dialect.v311) return signingAlgorithm;
  return dialect >= Dialect.v300 ? SigningAlgorithm.aesCmac : SigningAlgorithm.hmacSha256;
}

/** The signer of an error response: that of the session if the request was signed. */
export function errorSigner({ connection, header }: Request): Signer | undefined {
  const isSigned = (header.flags & HeaderFlag.signed) !== 0;
  return isSigned ? connection.signerOf(header.sessionId) : undefined;
}
