import type { Handler, Request, SessionRequest, TreeRequest } from "../request.ts";
import { Command } from "../wire/protocol.ts";
import { changeNotify } from "./change-notify.ts";
import { create } from "./create.ts";
import { ioctl } from "./ioctl.ts";
import { lock } from "./lock.ts";
import { logoff, sessionSetup } from "./session-setup.ts";
import { negotiate } from "./negotiate.ts";
import { oplockBreak } from "./oplock-break.ts";
import { queryDirectory } from "./query-directory.ts";
import { queryInfo } from "./query-info.ts";
import { read, write } from "./read-write.ts";
import { setInfo } from "./set-info.ts";
import { treeConnect, treeDisconnect } from "./tree-connect.ts";
import { emptyResponse, newResponse, type CommandResult } from "../response.ts";
import { Right } from "../../file/locks/access.ts";
import { has } from "../files/access.ts";
import { factsOf } from "../files/information-classes.ts";
import { findFile, findHandle } from "../files/lookup.ts";
import { Status } from "../status.ts";
import { decodeClose, decodeFlush, encodeCloseResponse } from "../wire/io.ts";

/** ECHO: clients send it to test the connection. */
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

/** The handler of a command, and what the ids in the header of the request must name: nothing, a
 *  session, or also a tree connect of it. */
export type CommandDeclaration =
  | { readonly needs: "nothing"; readonly handle: Handler<Request> }
  | { readonly needs: "session"; readonly handle: Handler<SessionRequest> }
  | { readonly needs: "tree"; readonly handle: Handler<TreeRequest> };

/** The handlers of all commands that this server supports, by command number. CANCEL has none:
 *  `smb/connection.ts` handles it, because it has no response. Used by `smb/dispatch.ts`. */
export const handlers: Readonly<Record<number, CommandDeclaration>> = {
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
