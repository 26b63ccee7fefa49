import { disconnect, errorResponse, type SmbResponse } from "./response.ts";
import { signerOfRefusal } from "./operations/channel-binding.ts";
import { handlers, type Declaration } from "./operations/handlers.ts";
import type { Request } from "./request.ts";
import type { Session } from "./session.ts";
import { Status, type NtStatus } from "./status.ts";
import { Command, Dialect, HeaderFlag } from "./wire/protocol.ts";

/** Checks what every message must satisfy, in the order of [MS-SMB2] 3.3.5.2, then runs it. */
export async function dispatch(request: Request): Promise<SmbResponse> {
  const { header, connection } = request;
  const declaration = handlers[header.command];
  if (connection.negotiated === undefined && header.command !== Command.negotiate) {
    return disconnect;
  }
  if (declaration === undefined) return errorResponse(Status.invalidParameter);
  const refused = checkSignature(request);
  if (refused !== undefined) return errorResponse(refused);
  switch (declaration.needs) {
    case "nothing":
      return declaration.handle(request);
    case "session":
    case "tree":
      return withSession(request, declaration);
  }
}

function checkSignature(request: Request): NtStatus | undefined {
  const { header, message, connection, isEncrypted } = request;
  if (isEncrypted || header.command === Command.negotiate) return undefined;
  const channel = connection.channels.get(header.sessionId);
  if ((header.flags & HeaderFlag.signed) !== 0) {
    // A client may join a session from this connection; until then it signs as on its first one.
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
  declaration: Exclude<Declaration, { needs: "nothing" }>,
): Promise<SmbResponse> {
  const { header, connection, encryptedBy: sealedBy } = request;
  const channel = connection.channels.get(header.sessionId);
  if (channel?.isValid !== true) {
    return { ...errorResponse(Status.userSessionDeleted), signer: signerOfRefusal(request) };
  }
  const { session } = channel;
  if (session.isAnonymous && opens.has(header.command)) return errorResponse(Status.accessDenied);
  if (sealedBy !== undefined && sealedBy !== session) return errorResponse(Status.accessDenied);
  if (session.requiresEncryption && sealedBy === undefined) return errorResponse(Status.accessDenied);
  if (declaration.needs === "session") {
    if (mustBeProtected(request, session)) return disconnect;
    return declaration.handle({ ...request, session });
  }
  const tree = session.trees.get(header.treeId);
  if (tree === undefined) return errorResponse(Status.networkNameDeleted);
  if (tree.requiresEncryption && sealedBy === undefined) return errorResponse(Status.accessDenied);
  try {
    return await declaration.handle({ ...request, session, tree });
  } finally {
    request.lifetime.whenHandled?.();
  }
}

/** What somebody without a name may not do. */
const opens: ReadonlySet<number> = new Set([Command.treeConnect, Command.create]);

/** With 3.1.1 the first message after the login shows that both sides made the same keys. */
function mustBeProtected({ header, connection, isEncrypted }: Request, session: Session): boolean {
  if (header.command !== Command.treeConnect || connection.dialect !== Dialect.v311) return false;
  const isSigned = (header.flags & HeaderFlag.signed) !== 0;
  return session.signer !== undefined && !isSigned && !isEncrypted;
}
