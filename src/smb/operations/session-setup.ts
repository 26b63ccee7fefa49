import {
  emptyResponse,
  errorResponse,
  newResponse,
  type CommandResult,
  type Request,
  type SessionRequest,
  type TreeRequest,
} from "../request.ts";
import { Channel, Session, endSession, removeChannel } from "../session.ts";
import type { Connection, NegotiatedParameters } from "../connection.ts";
import { channelsMax, sessionsMax, treesMax } from "../limits.ts";
import { fileTimeOf } from "../wire/header.ts";
import { Login, type LoginStep } from "../ntlm/login.ts";
import { Status, type NtStatus } from "../status.ts";
import {
  Cipher,
  Dialect,
  HeaderFlag,
  SecurityMode,
  SessionFlag,
  SigningAlgorithm,
  ShareType,
} from "../wire/protocol.ts";
import {
  decodeSessionSetup,
  encodeSessionSetupResponse,
  type SessionSetupRequest,
  decodeTreeConnect,
  encodeTreeConnectResponse,
} from "../wire/session.ts";
import { extendHash } from "./negotiate.ts";
import {
  encryptorOf,
  deriveSessionKeys,
  type SessionKeys,
  signerOf,
  type Signer,
} from "../crypto/session-keys.ts";
import { findShare } from "../files/shares.ts";
import type { FileHandle } from "../files/file-handle.ts";

/** SESSION_SETUP and LOGOFF, which begin and end sessions (logins of clients), TREE_CONNECT and
 *  TREE_DISCONNECT, which connect sessions to shares. */

const challengeBytes = 8;

/** SESSION_SETUP: authenticates a new session, an existing one again, or a further connection
 *  (channel) that is bound to a session. */
export async function sessionSetup(request: Request): Promise<CommandResult> {
  const { connection, message } = request;
  const decoded = decodeSessionSetup(message);
  if (decoded === undefined) return Status.invalidParameter;
  const channel = decoded.binds ? bindChannel(request) : findChannel(request);
  if (typeof channel === "number") {
    return { ...errorResponse(channel), signer: errorSigner(request) };
  }
  const { session } = channel;
  // A repeated authentication does not change the keys.
  const isFirst = !channel.isValid;
  if (isFirst) channel.preauthHash = extendHash(channel.preauthHash, message);
  channel.login ??= newLogin(connection);
  // Rereads the accounts, because another process may have replaced a key.
  await connection.server.world.accounts.refresh?.();
  const step = channel.login.accept(decoded.token);
  if (typeof step === "object" && step.step === "continue") {
    return continueLogin(channel, step.token, isFirst);
  }
  channel.login = undefined;
  const refused = typeof step === "number" ? step : statusOfLast(channel, step);
  if (typeof step === "number" || refused !== undefined) {
    await discardLogin(channel);
    const status = refused ?? Status.logonFailure;
    return { ...errorResponse(status), sessionId: session.id, signer: channel.signer };
  }
  session.isAnonymous = step.step === "anonymous";
  if (step.step === "done" && isFirst) {
    if (session.isValid) finishBinding(channel, step.sessionKey);
    else await beginSession(channel, decoded, step);
  }
  const flags = session.requiresEncryption ? SessionFlag.encryptData : 0;
  const body = encodeSessionSetupResponse(flags, step.token);
  return { ...newResponse(body), sessionId: session.id, mustSign: true };
}

/** The channel (a session on this connection) that the request names, or that of a new session. */
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

/** An id that no session has. Of 32 bits, which all clients accept; after `sessionIdTriesMax`
 *  random ones that are in use, of 64 bits. */
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

/** The response with the next token of an unfinished login. In dialect 3.1.1 the keys are derived
 *  from all messages of the login, so the response is hashed as it was sent. */
function continueLogin(channel: Channel, token: Buffer, isFirst: boolean): CommandResult {
  const body = encodeSessionSetupResponse(0, token);
  const whenSigned = (whole: Buffer): void => {
    if (isFirst) channel.preauthHash = extendHash(channel.preauthHash, whole);
  };
  const sessionId = channel.session.id;
  return { ...newResponse(body, Status.moreProcessingRequired), sessionId, whenSigned };
}

type LastStep = Extract<LoginStep, { step: "anonymous" | "done" }>;

/** The status of a login that must fail although the client has proved who it is; undefined if it
 *  is accepted. A repeated authentication or a binding must use the account of the session. An
 *  account may require encryption. */
function statusOfLast({ session, connection, isValid }: Channel, last: LastStep) {
  if (last.step === "anonymous") return isValid ? undefined : Status.logonFailure;
  if (session.isValid && session.account !== last.account.name) return Status.accessDenied;
  const canSeal = (connection.negotiated?.cipher ?? Cipher.none) !== Cipher.none;
  return canSeal || !last.account.smb.requireEncryption ? undefined : Status.accessDenied;
}

/** Ends the session of a failed login. A failed binding ends only the channel. */
async function discardLogin(channel: Channel): Promise<void> {
  const { session, connection } = channel;
  const isJoining = session.isValid && !channel.isValid;
  if (isJoining) await removeChannel(connection.server, channel);
  else await endSession(connection.server, session, "close");
}

type CompletedLogin = Extract<LoginStep, { step: "done" }>;

/** Completes the first login of a session: derives its keys, and replaces the previous session of
 *  the client. */
async function beginSession(
  channel: Channel,
  decoded: SessionSetupRequest,
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
  const modes = decoded.securityMode | clientSecurityMode | connection.server.securityMode;
  session.signingRequired = (modes & SecurityMode.signingRequired) !== 0;
  session.isValid = true;
  channel.isValid = true;
  await replacePrevious(connection, session, decoded.previousSessionId);
  // Waits until the handles of earlier sessions of the account are closed, so that they do not
  // conflict with new opens.
  await connection.server.backgroundWork.awaitAccount(session.account);
  // The connection, and with it the session, may have ended while the handles of an earlier session
  // were closed.
  if (session.isValid) connection.server.sessions.set(session.id, session);
}

/** Completes the binding of a channel, which shares the encryption keys of the session. */
function finishBinding(channel: Channel, sessionKey: Buffer): void {
  setChannelKeys(channel, sessionKey);
  channel.isValid = true;
}

/** Derives the keys of a login, and sets the signer of its channel. */
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

/** LOGOFF: ends the session, but durable handles stay open for a reconnect. The response is still
 *  signed with the key of the session. */
export async function logoff({ connection, session }: SessionRequest): Promise<CommandResult> {
  const signer = connection.channels.get(session.id)?.signer;
  await endSession(connection.server, session, "keep-durable");
  return { ...emptyResponse(), signer };
}

/** Makes this connection a further channel of a session that began on another connection ([MS-SMB2]
 *  3.3.5.5); the login must still succeed. */
function bindChannel(request: Request): Channel | NtStatus {
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
  const ofConnection = connection.negotiated;
  if (ofConnection === undefined) return Status.requestNotAccepted;
  const ofSession = session.negotiated;
  if (algorithmOf(ofConnection) !== algorithmOf(ofSession)) {
    if (algorithmOf(ofSession) === SigningAlgorithm.aesGmac) return Status.requestOutOfSequence;
    if (algorithmOf(ofConnection) === SigningAlgorithm.aesGmac) return Status.notSupported;
  }
  if (ofConnection.dialect < Dialect.v300) return Status.requestNotAccepted;
  const isSigned = (header.flags & HeaderFlag.signed) !== 0;
  const isAlike =
    ofConnection.dialect === ofSession.dialect && ofConnection.cipher === ofSession.cipher;
  return isSigned && isAlike ? undefined : Status.invalidParameter;
}

/** The signing algorithm in use: only dialect 3.1.1 negotiates it. */
function algorithmOf({ dialect, signingAlgorithm }: NegotiatedParameters): number {
  if (dialect === Dialect.v311) return signingAlgorithm;
  return dialect >= Dialect.v300 ? SigningAlgorithm.aesCmac : SigningAlgorithm.hmacSha256;
}

/** The signer of an error response: that of the session if the request was signed. Clients reject
 *  an unsigned response to a signed request. */
export function errorSigner({ connection, header }: Request): Signer | undefined {
  const isSigned = (header.flags & HeaderFlag.signed) !== 0;
  return isSigned ? connection.signerOf(header.sessionId) : undefined;
}

/** The name under which clients connect to the named pipes, as if it were a share. */
const pipeShare = "ipc$";
const pipes = { accountName: "", account: 0n, name: pipeShare, id: 0n };
const sharePath = /^\\\\[^\\]+\\([^\\]+)$/;
/** SMB2_SHAREFLAG_NO_CACHING, for the named pipes: clients must not cache what they read. */
const noCaching = 0x30;
/** Maximal access to a share: every right of a file. */
const fullAccess = 0x001f_01ff;
const pipeAccess = 0x001f_00a9;

/** TREE_CONNECT: connects a session to a share, or to the named pipes (IPC$). */
export async function treeConnect(request: SessionRequest): Promise<CommandResult> {
  const { connection, session } = request;
  const decoded = decodeTreeConnect(request.message);
  if (decoded === undefined) return Status.invalidParameter;
  const name = sharePath.exec(decoded.path)?.[1]?.toLowerCase();
  if (name === undefined) return Status.badNetworkName;
  if (session.trees.size >= treesMax) return Status.insufficientResources;
  const isDisk = name !== pipeShare;
  const { runtime } = connection.server.world;
  const share = isDisk ? await findShare(runtime, session.account, name) : pipes;
  if (share === undefined) return Status.badNetworkName;
  const id = session.nextTreeId();
  session.trees.set(id, { id, kind: isDisk ? "disk" : "pipe", share });
  connection.server.world.log.debug({ share: name, peer: connection.peer }, "share connected");
  const body = encodeTreeConnectResponse({
    shareType: isDisk ? ShareType.disk : ShareType.pipe,
    shareFlags: isDisk ? 0 : noCaching,
    maximalAccess: isDisk ? fullAccess : pipeAccess,
  });
  return { ...newResponse(body), treeId: id };
}

/** TREE_DISCONNECT: closes all handles of the tree connect. */
export async function treeDisconnect(request: TreeRequest): Promise<CommandResult> {
  const { connection, session, tree } = request;
  session.trees.delete(tree.id);
  const files: FileHandle[] = [];
  for (const handle of session.handles.values()) {
    if (handle.tree !== tree) continue;
    session.handles.delete(handle.id.volatile);
    if (handle.kind === "file") files.push(handle);
  }
  await connection.server.handleCloser.close(files);
  return emptyResponse();
}
