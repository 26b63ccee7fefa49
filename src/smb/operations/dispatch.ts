import {
  type Handler,
  type Request,
  type SessionRequest,
  type TreeRequest,
  emptyResponse,
  newResponse,
  type CommandResult,
  disconnect,
  errorResponse,
  type SmbResponse,
} from "../request.ts";
import { Command, Dialect, HeaderFlag } from "../wire/protocol.ts";
import { changeNotify, queryDirectory } from "./directory.ts";
import { create } from "./create.ts";
import { ioctl } from "./ioctl.ts";
import { lock } from "./lock.ts";
import { logoff, sessionSetup, treeConnect, treeDisconnect, errorSigner } from "./session-setup.ts";
import { negotiate } from "./negotiate.ts";
import { oplockBreak } from "./lock.ts";
import { queryInfo, setInfo } from "./info.ts";
import { read, write } from "./read-write.ts";
import { Right } from "../../file/locks/access.ts";
import { has, findFile, findHandle } from "../files/file-handle.ts";
import { factsOf } from "../files/information-classes.ts";
import { Status, type NtStatus } from "../status.ts";
import { decodeClose, decodeFlush, encodeCloseResponse } from "../wire/io.ts";
import type { Session } from "../session.ts";

/** The handlers of all commands by number, with those of the shortest commands, and `dispatch`,
 *  which checks a request and runs its handler. */

/** ECHO: clients send it to test the connection; the response is empty. */
const echo = emptyResponse;

/** CLOSE: closes a file with its locks and caching grants, or a pipe. */
async function close(request: TreeRequest): Promise<CommandResult> {
  const decoded = decodeClose(request.message);
  if (decoded === undefined) return Status.invalidParameter;
  const handle = findHandle(request, decoded.fileId);
  if (typeof handle === "number") return handle;
  request.session.handles.delete(handle.id.volatile);
  if (handle.kind === "pipe") return newResponse(encodeCloseResponse(undefined));
  const { node } = await request.connection.server.handleCloser.closeNow(handle);
  const facts = decoded.wantsFacts && node !== undefined ? factsOf(node) : undefined;
  return newResponse(encodeCloseResponse(facts));
}

const flushRights = Right.writeData | Right.appendData;

/** FLUSH has no effect: every write is durable before its response. */
function flush(request: TreeRequest): CommandResult {
  const fileId = decodeFlush(request.message);
  if (fileId === undefined) return Status.invalidParameter;
  const handle = findFile(request, fileId);
  if (typeof handle === "number") return handle;
  return has(handle.access, flushRights) ? emptyResponse() : Status.accessDenied;
}

/** The handler of a command, and what must exist for it: nothing, the session that the header of
 *  the request names, or also the tree connect (the connected share). */
type CommandDeclaration =
  | { readonly needs: "nothing"; readonly handle: Handler<Request> }
  | { readonly needs: "session"; readonly handle: Handler<SessionRequest> }
  | { readonly needs: "tree"; readonly handle: Handler<TreeRequest> };

/** The handlers of all commands that this server supports, by command number. CANCEL has none:
 *  `smb/connection.ts` handles it, because it has no response. */
const handlers: Readonly<Record<number, CommandDeclaration>> = {
  [Command.negotiate]: { needs: "nothing", handle: negotiate },
  [Command.sessionSetup]: { needs: "nothing", handle: sessionSetup },
  [Command.logoff]: { needs: "session", handle: logoff },
  [Command.treeConnect]: { needs: "session", handle: treeConnect },
  [Command.treeDisconnect]: { needs: "tree", handle: treeDisconnect },
  [Command.create]: { needs: "tree", handle: create },
  [Command.close]: { needs: "tree", handle: close },
  [Command.flush]: { needs: "tree", handle: flush },
  [Command.read]: { needs: "tree", handle: read },
  [Command.write]: { needs: "tree", handle: write },
  [Command.lock]: { needs: "tree", handle: lock },
  [Command.ioctl]: { needs: "tree", handle: ioctl },
  [Command.echo]: { needs: "nothing", handle: echo },
  [Command.queryDirectory]: { needs: "tree", handle: queryDirectory },
  [Command.changeNotify]: { needs: "tree", handle: changeNotify },
  [Command.queryInfo]: { needs: "tree", handle: queryInfo },
  [Command.setInfo]: { needs: "tree", handle: setInfo },
  [Command.oplockBreak]: { needs: "session", handle: oplockBreak },
};

/** Makes the checks that are common to all requests, in the order of [MS-SMB2] 3.3.5.2, then runs
 *  the handler of the command. `smb/compound-request.ts` calls it for each request of a
 *  compound. */
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
    // Before a connection is bound to a session, it signs with the key of the session.
    const signer = connection.signerOf(header.sessionId);
    if (signer === undefined) {
      return channel === undefined ? Status.userSessionDeleted : Status.notSupported;
    }
    return signer.verify(message) ? undefined : Status.accessDenied;
  }
  const mustSign = channel?.isValid === true && channel.session.signingRequired;
  return mustSign ? Status.accessDenied : undefined;
}

/** Runs a handler that needs a session, if the session exists and permits the request. */
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
