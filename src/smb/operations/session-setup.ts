import { answer, refusal, type Answer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { sessionsMax } from "../limits.ts";
import { sealerOf } from "../crypto/encryption.ts";
import { deriveSessionKeys } from "../crypto/key-derivation.ts";
import { signerOf } from "../crypto/signing.ts";
import { fileTimeOf } from "../file-time.ts";
import { Login, type LoginStep } from "../ntlm/login.ts";
import type { Request } from "../request.ts";
import { Session } from "../session.ts";
import { endSession } from "../session-end.ts";
import { Status } from "../status.ts";
import { Cipher, Dialect, SecurityMode, SessionFlag } from "../wire/protocol.ts";
import {
  decodeSessionSetup,
  encodeSessionSetupResponse,
  type SessionSetupRequest,
} from "../wire/session-setup.ts";
import { extendHash } from "./negotiate.ts";

const challengeBytes = 8;

export async function sessionSetup(request: Request): Promise<Answer> {
  const { connection, message, header } = request;
  const asked = decodeSessionSetup(message);
  if (asked === undefined) return refusal(Status.invalidParameter);
  // A session lives on one connection here; a client that wants several goes on with one.
  if (asked.binds) return refusal(Status.requestNotAccepted);
  const session = findSession(connection, header.sessionId);
  if (session === undefined) {
    return refusal(
      header.sessionId === 0n ? Status.insufficientResources : Status.userSessionDeleted,
    );
  }
  const isFirst = !session.isValid;
  if (isFirst) session.preauthHash = extendHash(session.preauthHash, message);
  session.login ??= newLogin(connection);
  const step = session.login.take(asked.token);
  if (step.step === "continue") return carryOn(session, step.token, isFirst);
  session.login = undefined;
  if (step.step !== "done" || !mayEnter(connection, session, step)) {
    await drop(connection, session);
    const status = step.step === "malformed" ? Status.invalidParameter : refusalOf(step);
    return { ...refusal(status), sessionId: session.id };
  }
  if (isFirst) await enter(connection, session, asked, step);
  const flags = session.encrypts ? SessionFlag.encryptData : 0;
  const body = encodeSessionSetupResponse(flags, step.token);
  return { ...answer(body), sessionId: session.id, proves: true };
}

function findSession(connection: Connection, id: bigint): Session | undefined {
  if (id !== 0n) return connection.sessions.get(id);
  if (connection.sessions.size >= sessionsMax) return undefined;
  const session = new Session(newSessionId(connection), connection.preauthHash);
  connection.sessions.set(session.id, session);
  return session;
}

const sessionIdTriesMax = 16;

function newSessionId({ server }: Connection): bigint {
  for (let tries = 0; tries < sessionIdTriesMax; tries += 1) {
    const id = server.newSessionId();
    if (!server.sessions.has(id)) return id;
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

function carryOn(session: Session, token: Buffer, isFirst: boolean): Answer {
  const body = encodeSessionSetupResponse(0, token);
  const whenEncoded = (whole: Buffer): void => {
    if (isFirst) session.preauthHash = extendHash(session.preauthHash, whole);
  };
  return { ...answer(body, Status.moreProcessingRequired), sessionId: session.id, whenEncoded };
}

type Done = Extract<LoginStep, { step: "done" }>;

/** Whoever logs in again stays who it was, and an account may insist on encryption. */
function mayEnter(connection: Connection, session: Session, { account }: Done): boolean {
  if (session.isValid && session.account !== account.name) return false;
  const canSeal = (connection.negotiated?.cipher ?? Cipher.none) !== Cipher.none;
  return canSeal || !account.smb.requireEncryption;
}

function refusalOf(step: LoginStep) {
  return step.step === "done" ? Status.accessDenied : Status.logonFailure;
}

async function enter(
  connection: Connection,
  session: Session,
  asked: SessionSetupRequest,
  { account, sessionKey }: Done,
): Promise<void> {
  const { server, negotiated } = connection;
  if (negotiated === undefined) throw new Error("a session is set up after the negotiation");
  const { dialect, cipher, signingAlgorithm, clientSecurityMode } = negotiated;
  const { preauthHash } = session;
  const keys = deriveSessionKeys({ dialect, cipher, sessionKey, preauthHash });
  session.account = account.name;
  session.signer = signerOf(keys.signing, dialect, signingAlgorithm);
  if (dialect >= Dialect.v300 && cipher !== Cipher.none) {
    session.sealer = sealerOf({ sessionId: session.id, cipher, keys });
  }
  session.encrypts = account.smb.requireEncryption;
  const modes = asked.securityMode | clientSecurityMode;
  session.signingRequired = (modes & SecurityMode.signingRequired) !== 0;
  session.isValid = true;
  await replacePrevious(connection, session, asked.previousSessionId);
  // A client that comes back finds what it lost cleared away.
  await server.settled();
  server.sessions.set(session.id, {
    session,
    end: async () => {
      connection.sessions.delete(session.id);
      await endSession(server, session, "lost");
    },
  });
}

/** A client that comes back takes its old session's place; others' sessions are not its own. */
async function replacePrevious(
  { server }: Connection,
  session: Session,
  previousId: bigint,
): Promise<void> {
  const previous = server.sessions.get(previousId);
  if (previous === undefined || previousId === session.id) return;
  if (previous.session.account === session.account) await previous.end();
}

async function drop({ server, sessions }: Connection, session: Session): Promise<void> {
  sessions.delete(session.id);
  await endSession(server, session, "closed");
}
