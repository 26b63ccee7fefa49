import { createHash } from "node:crypto";
import { newResponse, disconnect, type CommandResult, type Request } from "../request.ts";
import type { Connection, NegotiatedParameters } from "../connection.ts";
import { transactBytesMax } from "../limits.ts";
import { fileTimeOf, encodeHeader, unsolicitedHeader } from "../wire/header.ts";
import { encodeOffer } from "../spnego/tokens.ts";
import { Status, type NtStatus } from "../status.ts";
import {
  ContextType,
  decodeAlgorithms,
  decodeNegotiate,
  decodeSmb1Negotiate,
  encodeNegotiateResponse,
  type NegotiateContext,
  type NegotiateRequest,
} from "../wire/session.ts";
import {
  Capability,
  Cipher,
  Command,
  Dialect,
  SecurityMode,
  SigningAlgorithm,
} from "../wire/protocol.ts";

/** NEGOTIATE, the first request of a connection, on which dialect and algorithms depend. */

const sha512 = 1;
const saltBytes = 32;
const oldestTransactBytesMax = 65_536;
/** The supported algorithms, the preferred ones first. */
const ciphers = [Cipher.aes128Gcm, Cipher.aes256Gcm, Cipher.aes128Ccm, Cipher.aes256Ccm];
const signings = [SigningAlgorithm.aesGmac, SigningAlgorithm.aesCmac, SigningAlgorithm.hmacSha256];
/** Types of negotiate contexts that a request may have only once. */
const uniqueContextTypes = new Set([1, 2, 3, 7, 8]);
const oldWildcard = "SMB 2.???";
const oldExact = "SMB 2.002";

/** NEGOTIATE: chooses dialect, cipher and signing algorithm for the connection. */
export function negotiate(request: Request): CommandResult {
  const { connection, message } = request;
  if (connection.negotiated !== undefined) return disconnect;
  const decoded = decodeNegotiate(message);
  if (decoded === undefined) return Status.invalidParameter;
  const dialect = chooseDialect(connection, decoded.dialects);
  if (dialect === undefined) return Status.notSupported;
  const choice = chooseAlgorithms(decoded, dialect);
  if (typeof choice === "number") return choice;
  const capabilities = capabilitiesOf(dialect, decoded.capabilities);
  connection.negotiated = {
    dialect,
    ...choice,
    capabilities,
    clientGuid: decoded.clientGuid,
    clientCapabilities: decoded.capabilities,
    clientSecurityMode: decoded.securityMode,
    clientDialects: decoded.dialects,
  };
  connection.server.clientConnections.add(connection);
  const contexts = dialect === Dialect.v311 ? contextsOf(connection, decoded, choice) : [];
  const body = response(connection, dialect, capabilities, contexts);
  hashInto(connection, message);
  return { ...newResponse(body), whenSigned: (whole) => hashInto(connection, whole) };
}

/** Adds a NEGOTIATE message to the preauthentication integrity hash, from which dialect 3.1.1
 *  derives its keys: if an attacker changes a message, client and server get different keys. */
function hashInto(connection: Connection, message: Buffer): void {
  connection.preauthHash = extendHash(connection.preauthHash, message);
}

/** The preauthentication integrity hash after one more message ([MS-SMB2] 3.3.5.4). */
export function extendHash(hash: Buffer, message: Buffer): Buffer {
  return createHash("sha512").update(hash).update(message).digest();
}

/** The newest dialect that client and server support; undefined if there is none. */
function chooseDialect({ server }: Connection, offered: readonly number[]): number | undefined {
  const oldest = server.world.options.allowsOldestDialect ? [Dialect.v202] : [];
  const supported = [Dialect.v311, Dialect.v302, Dialect.v300, Dialect.v210, ...oldest];
  return supported.find((dialect) => offered.includes(dialect));
}

/** Types of the contexts in which a client offers algorithms: hashes, ciphers, signatures. */
const choiceTypes: ReadonlySet<number> = new Set(Object.values(ContextType));

type ChosenAlgorithms = Pick<NegotiatedParameters, "cipher" | "signingAlgorithm">;

/** The cipher and signing algorithm, or the status of a request with invalid contexts. Before
 *  dialect 3.1.1 there is nothing to choose. */
function chooseAlgorithms(decoded: NegotiateRequest, dialect: number): ChosenAlgorithms | NtStatus {
  const simple = { cipher: Cipher.aes128Ccm, signingAlgorithm: SigningAlgorithm.aesCmac };
  if (dialect !== Dialect.v311) {
    const seals = dialect >= Dialect.v300 && (decoded.capabilities & Capability.encryption) !== 0;
    return { ...simple, cipher: seals ? Cipher.aes128Ccm : Cipher.none };
  }
  const found = new Map<number, readonly number[]>();
  for (const { type, data } of decoded.contexts) {
    if (found.has(type) && uniqueContextTypes.has(type)) return Status.invalidParameter;
    if (!choiceTypes.has(type)) continue;
    const choices = decodeAlgorithms(data, type === ContextType.preauthIntegrity);
    if (choices === undefined) return Status.invalidParameter;
    found.set(type, choices);
  }
  const hashes = found.get(ContextType.preauthIntegrity);
  if (hashes === undefined) return Status.invalidParameter;
  if (!hashes.includes(sha512)) return Status.noPreauthHashOverlap;
  const wanted = found.get(ContextType.encryption) ?? [];
  const signed = found.get(ContextType.signing) ?? [];
  return {
    cipher: ciphers.find((cipher) => wanted.includes(cipher)) ?? Cipher.none,
    signingAlgorithm: signings.find((one) => signed.includes(one)) ?? SigningAlgorithm.aesCmac,
  };
}

function contextsOf(
  { server }: Connection,
  { contexts }: NegotiateRequest,
  { cipher, signingAlgorithm }: ChosenAlgorithms,
): readonly NegotiateContext[] {
  const salt = server.world.random.bytes(saltBytes);
  const hash = Buffer.from([1, 0, saltBytes, 0, sha512, 0, ...salt]);
  const answers: NegotiateContext[] = [{ type: ContextType.preauthIntegrity, data: hash }];
  const chosen = new Map<number, number>([
    [ContextType.encryption, cipher],
    [ContextType.signing, signingAlgorithm],
  ]);
  for (const [type, algorithm] of chosen) {
    const isAsked = contexts.some((context) => context.type === type);
    if (isAsked) answers.push({ type, data: Buffer.from([1, 0, algorithm, 0]) });
  }
  return answers;
}

function capabilitiesOf(dialect: number, decoded: number): number {
  if (dialect === Dialect.v202) return 0;
  const sealing = dialect === Dialect.v300 || dialect === Dialect.v302;
  const joining = dialect >= Dialect.v300 ? decoded & Capability.multiChannel : 0;
  const sealed = sealing ? decoded & Capability.encryption : 0;
  return Capability.leasing | Capability.largeMtu | joining | sealed;
}

function response(
  { server }: Connection,
  dialect: number,
  capabilities: number,
  contexts: readonly NegotiateContext[],
): Buffer {
  const isSmall = dialect === Dialect.v202 || dialect === Dialect.wildcard;
  return encodeNegotiateResponse({
    securityMode: server.securityMode,
    dialect,
    serverGuid: server.guid,
    capabilities,
    transactBytesMax: isSmall ? oldestTransactBytesMax : transactBytesMax,
    systemTime: fileTimeOf(server.world.clock.wall()),
    securityBuffer: encodeOffer(),
    contexts,
  });
}

/** Responds to the SMB1 NEGOTIATE with which a client may begin, if it offers SMB 2 dialects; false
 *  if the connection must be closed. */
export function answerSmb1Negotiate(connection: Connection, frame: Buffer): boolean {
  if (connection.negotiated !== undefined || connection.hasSmb1Negotiate) return false;
  const offered = decodeSmb1Negotiate(frame);
  if (offered === undefined || !connection.window.take(0n, 1)) return false;
  const oldest = connection.server.world.options.allowsOldestDialect;
  const isWild = offered.includes(oldWildcard);
  if (!isWild && !(oldest && offered.includes(oldExact))) return false;
  const dialect = isWild ? Dialect.wildcard : Dialect.v202;
  const { message } = newResponse(response(connection, dialect, 0, []));
  connection.hasSmb1Negotiate = true;
  if (!isWild) connection.negotiated = oldestNegotiated;
  const credits = connection.window.grant(1, 1);
  const { negotiate: command } = Command;
  encodeHeader(message, { ...unsolicitedHeader, command, credits, messageId: 0n });
  connection.send([message]);
  return true;
}

/** What an SMB1 NEGOTIATE agrees on if it offers dialect 2.0.2 and no later one. */
const oldestNegotiated: NegotiatedParameters = {
  dialect: Dialect.v202,
  cipher: Cipher.none,
  signingAlgorithm: SigningAlgorithm.hmacSha256,
  clientGuid: Buffer.alloc(16),
  clientCapabilities: 0,
  clientSecurityMode: SecurityMode.signingEnabled,
  capabilities: 0,
  clientDialects: [Dialect.v202],
};
