import type { Channel } from "../channel.ts";
import type { Connection } from "../connection.ts";
import { encryptorOf } from "../crypto/encryption.ts";
import { deriveSessionKeys, type SessionKeys } from "../crypto/key-derivation.ts";
import { signerOf } from "../crypto/signing.ts";
import type { LoginStep } from "../ntlm/login.ts";
import type { Session } from "../session.ts";
import { endSession } from "../session-end.ts";
import { Cipher, Dialect, SecurityMode } from "../wire/protocol.ts";
import type { SessionSetupRequest } from "../wire/session-setup.ts";

type CompletedLogin = Extract<LoginStep, { step: "done" }>;

/** Completes the first login of a session: derives its keys, and replaces the previous session of
 *  the client. */
export async function beginSession(
  channel: Channel,
  asked: SessionSetupRequest,
  { account, sessionKey }: CompletedLogin,
): Promise<void> {
  const { session, connection } = channel;
  const { dialect, cipher, clientSecurityMode } = session.negotiated;
  const keys = setChannelKeys(channel, sessionKey);
  session.account = account.name;
  session.signer = channel.signer;
  if (dialect >= Dialect.v300 && cipher !== Cipher.none) {
    session.encryptor = encryptorOf({ sessionId: session.id, cipher, keys });
  }
  session.requiresEncryption = account.smb.requireEncryption;
  const modes = asked.securityMode | clientSecurityMode | connection.server.securityMode;
  session.signingRequired = (modes & SecurityMode.signingRequired) !== 0;
  session.isValid = true;
  channel.isValid = true;
  await replacePrevious(connection, session, asked.previousSessionId);
  // Waits until the handles of earlier sessions of the account are closed, so that they do not
  // conflict with new opens.
  await connection.server.backgroundWork.awaitAccount(session.account);
  // The connection, and with it the session, may have ended meanwhile.
  if (session.isValid) connection.server.sessions.set(session.id, session);
}

/** Completes the binding of a channel. It gets only a signing key: the encryption keys belong to
 *  the session. */
export function finishBinding(channel: Channel, sessionKey: Buffer): void {
  setChannelKeys(channel, sessionKey);
  channel.isValid = true;
}

function setChannelKeys(channel: Channel, sessionKey: Buffer): SessionKeys {
  const { connection, preauthHash } = channel;
  const { negotiated } = connection;
  if (negotiated === undefined) throw new Error("a session is set up after the negotiation");
  const { dialect, cipher, signingAlgorithm } = negotiated;
  const keys = deriveSessionKeys({ dialect, cipher, sessionKey, preauthHash });
  channel.signer = signerOf(keys.signing, dialect, signingAlgorithm);
  connection.hasAuthenticated = true;
  return keys;
}

/** Ends the session that a client names as its previous one when it reconnects, if it has the same
 *  account. */
async function replacePrevious(
  { server }: Connection,
  session: Session,
  previousId: bigint,
): Promise<void> {
  const previous = server.sessions.get(previousId);
  if (previous === undefined || previous === session) return;
  if (previous.account === session.account) await endSession(server, previous, "keep-durable");
}
