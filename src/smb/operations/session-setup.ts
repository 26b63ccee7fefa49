import { newResponse, errorResponse, type SmbResponse } from "../response.ts";
import { Channel } from "../channel.ts";
import type { Connection } from "../connection.ts";
import { sessionsMax } from "../limits.ts";
import { fileTimeOf } from "../file-time.ts";
import { Login, type LoginStep } from "../ntlm/login.ts";
import type { Request } from "../request.ts";
import { Session } from "../session.ts";
import { endSession, removeChannel } from "../session-end.ts";
import { Status, type NtStatus } from "../status.ts";
import { Cipher, SessionFlag } from "../wire/protocol.ts";
import { decodeSessionSetup, encodeSessionSetupResponse } from "../wire/session-setup.ts";
import { bindChannel, errorSigner } from "./channel-binding.ts";
import { extendHash } from "./negotiate.ts";
import { beginSession, finishBinding } from "./session-keys.ts";

const challengeBytes = 8;

/** SESSION_SETUP: authenticates a new session, an existing one again, or a channel that is bound to
 *  one. */
export async function sessionSetup(request: Request): Promise<SmbResponse> {
  const { connection, message } = request;
  const asked = decodeSessionSetup(message);
  if (asked === undefined) return errorResponse(Status.invalidParameter);
  const channel = asked.binds ? bindChannel(request) : findChannel(request);
  if (typeof channel === "number") {
    return { ...errorResponse(channel), signer: errorSigner(request) };
  }
  const { session } = channel;
  // A repeated authentication does not change the keys.
  const isFirst = !channel.isValid;
  if (isFirst) channel.preauthHash = extendHash(channel.preauthHash, message);
  channel.login ??= newLogin(connection);
  // Another process may have replaced a key.
  await connection.server.world.accounts.refresh?.();
  const step = channel.login.accept(asked.token);
  if (step.step === "continue") return continueLogin(channel, step.token, isFirst);
  channel.login = undefined;
  const refused = faultOf(channel, step);
  if (step.step === "malformed" || step.step === "refused" || refused !== undefined) {
    await discardLogin(channel);
    const status = refused ?? Status.logonFailure;
    return { ...errorResponse(status), sessionId: session.id, signer: channel.signer };
  }
  session.isAnonymous = step.step === "anonymous";
  if (step.step === "done" && isFirst) {
    if (session.isValid) finishBinding(channel, step.sessionKey);
    else await beginSession(channel, asked, step);
  }
  const flags = session.requiresEncryption ? SessionFlag.encryptData : 0;
  const body = encodeSessionSetupResponse(flags, step.token);
  return { ...newResponse(body), sessionId: session.id, mustSign: true };
}

function findChannel({ connection, header }: Request): Channel | NtStatus {
  const { negotiated, channels } = connection;
  if (header.sessionId !== 0n) {
    return channels.get(header.sessionId) ?? Status.userSessionDeleted;
  }
  if (negotiated === undefined) return Status.invalidParameter;
  if (channels.size >= sessionsMax) return Status.insufficientResources;
  const session = new Session(newSessionId(connection), negotiated);
  const channel = new Channel(session, connection);
  session.channels.add(channel);
  channels.set(session.id, channel);
  return channel;
}

const sessionIdTriesMax = 16;

function newSessionId({ server, channels }: Connection): bigint {
  for (let tries = 0; tries < sessionIdTriesMax; tries += 1) {
    const id = server.newSessionId();
    if (!server.sessions.has(id) && !channels.has(id)) return id;
  }
  return server.newId();
}

function newLogin({ server }: Connection): Login {
  const { accounts, random, clock, options } = server.world;
  return new Login({
    accounts,
    challenge: random.bytes(challengeBytes),
    serverName: options.serverName,
    fileTime: () => fileTimeOf(clock.wall()),
  });
}

function continueLogin(channel: Channel, token: Buffer, isFirst: boolean): SmbResponse {
  const body = encodeSessionSetupResponse(0, token);
  const whenSigned = (whole: Buffer): void => {
    if (isFirst) channel.preauthHash = extendHash(channel.preauthHash, whole);
  };
  const sessionId = channel.session.id;
  return { ...newResponse(body, Status.moreProcessingRequired), sessionId, whenSigned };
}

type LastStep = Exclude<LoginStep, { step: "continue" }>;

/** The status of a login that must fail; undefined if it is accepted. A repeated authentication or
 *  a binding must use the account of the session. An account may require encryption. */
function faultOf({ session, connection, isValid }: Channel, last: LastStep) {
  switch (last.step) {
    case "malformed":
      return Status.invalidParameter;
    case "refused":
      return Status.logonFailure;
    case "anonymous":
      return isValid ? undefined : Status.logonFailure;
    case "done": {
      if (session.isValid && session.account !== last.account.name) return Status.accessDenied;
      const canSeal = (connection.negotiated?.cipher ?? Cipher.none) !== Cipher.none;
      return canSeal || !last.account.smb.requireEncryption ? undefined : Status.accessDenied;
    }
  }
}

/** Ends the session of a failed login. A failed binding ends only the channel. */
async function discardLogin(channel: Channel): Promise<void> {
  const { session, connection } = channel;
  const isJoining = session.isValid && !channel.isValid;
  if (isJoining) await removeChannel(connection.server, channel);
  else await endSession(connection.server, session, "close");
}
