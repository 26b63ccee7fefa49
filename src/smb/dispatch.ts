import { disconnect, errorResponse, type CommandResult, type SmbResponse } from "./response.ts";
import { errorSigner } from "./operations/session-setup.ts";
import { handlers, type CommandDeclaration } from "./operations/handlers.ts";
import type { Request } from "./request.ts";
import type { Session } from "./session.ts";
import { Status, type NtStatus } from "./status.ts";
import { Command, Dialect, HeaderFlag } from "./wire/protocol.ts";

/** Makes the checks that are common to all requests, in the order of [MS-SMB2] 3.3.5.2, then runs
 *  the handler of the command. Called for each request of a compound (`compound-request.ts`). */
export async function dispatch(request: Request): Promise<SmbResponse> {
  const result = await checkAndHandle(request);
  return typeof result === "number" ? errorResponse(result) : result;
}

async function checkAndHandle(request: Request): Promise<CommandResult> {
  const { header, connection } = request;
  const declaration = handlers[header.command];
  if (connection.negotiated === undefined && header.command !== Command.negotiate) {
    return disconnect;
  }
  if (declaration === undefined) return Status.invalidParameter;
  const failure = checkSignature(request);
  if (failure !== undefined) return failure;
  return declaration.needs === "nothing"
    ? declaration.handle(request)
    : withSession(request, declaration);
}

/** The status of a request with a wrong signature, or without one that it needs. */
function checkSignature(request: Request): NtStatus | undefined {
  const { header, message, connection, encryptedBy } = request;
  if (encryptedBy !== undefined || header.command === Command.negotiate) return undefined;
  const channel = connection.channels.get(header.sessionId);
  if ((header.flags & HeaderFlag.signed) !== 0) {
    // A connection that is being bound to a session signs its requests with the key of the session.
    const signer = connection.signerOf(header.sessionId);
    if (signer === undefined) {
      return channel === undefined ? Status.userSessionDeleted : Status.notSupported;
    }
    return signer.verify(message) ? undefined : Status.accessDenied;
  }
  const mustSign = channel?.isValid === true && channel.session.signingRequired;
  return mustSign ? Status.accessDenied : undefined;
}

async function withSession(
  request: Request,
  declaration: Exclude<CommandDeclaration, { needs: "nothing" }>,
): Promise<CommandResult> {
  const { header, connection, encryptedBy } = request;
  const channel = connection.channels.get(header.sessionId);
  if (channel?.isValid !== true) {
    return { ...errorResponse(Status.userSessionDeleted), signer: errorSigner(request) };
  }
  const { session } = channel;
  if (session.isAnonymous && needsAccount.has(header.command)) return Status.accessDenied;
  if (encryptedBy !== undefined && encryptedBy !== session) return Status.accessDenied;
  if (session.requiresEncryption && encryptedBy === undefined) return Status.accessDenied;
  if (declaration.needs === "session") {
    if (mustBeProtected(request, session)) return disconnect;
    return declaration.handle({ ...request, session });
  }
  const tree = session.trees.get(header.treeId);
  if (tree === undefined) return Status.networkNameDeleted;
  try {
    return await declaration.handle({ ...request, session, tree });
  } finally {
    request.lifetime.whenHandled?.();
  }
}

/** Commands that are rejected in a session whose client has authenticated again as anonymous. */
const needsAccount: ReadonlySet<number> = new Set([Command.treeConnect, Command.create]);

/** Whether a TREE_CONNECT must be rejected because it is neither signed nor encrypted. With dialect
 *  3.1.1 this ends the connection ([MS-SMB2] 3.3.5.7). */
function mustBeProtected({ header, connection, encryptedBy }: Request, session: Session): boolean {
  if (header.command !== Command.treeConnect || connection.dialect !== Dialect.v311) return false;
  const isSigned = (header.flags & HeaderFlag.signed) !== 0;
  return session.signer !== undefined && !isSigned && encryptedBy === undefined;
}
