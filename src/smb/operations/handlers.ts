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
import { emptyResponse, errorResponse, newResponse, type SmbResponse } from "../response.ts";
import { Right } from "../../file/locks/access.ts";
import { has } from "../files/access.ts";
import { factsOf } from "../files/information-classes.ts";
import { findFile, findHandle, isResponse } from "../files/lookup.ts";
import { Status } from "../status.ts";
import { decodeClose, decodeFlush, encodeCloseResponse } from "../wire/io.ts";

/** ECHO: clients send it to test the connection. */
function echo(): SmbResponse {
  return emptyResponse();
}

async function close(request: TreeRequest): Promise<SmbResponse> {
  const decoded = decodeClose(request.message);
  if (decoded === undefined) return errorResponse(Status.invalidParameter);
  const handle = findHandle(request, decoded.fileId);
  if (isResponse(handle)) return handle;
  request.session.handles.delete(handle.id.volatile);
  if (handle.kind === "pipe") return newResponse(encodeCloseResponse(undefined));
  const { node } = await request.connection.server.handleCloser.closeNow(handle);
  const facts = decoded.wantsFacts && node !== undefined ? factsOf(node) : undefined;
  return newResponse(encodeCloseResponse(facts));
}

const flushRights = Right.writeData | Right.appendData;

/** FLUSH has no effect: every write is durable before its response. */
function flush(request: TreeRequest): SmbResponse {
  const fileId = decodeFlush(request.message);
  if (fileId === undefined) return errorResponse(Status.invalidParameter);
  const handle = findFile(request, fileId);
  if (isResponse(handle)) return handle;
  return has(handle.access, flushRights) ? emptyResponse() : errorResponse(Status.accessDenied);
}

/** The handler of a command, and what must exist before it runs. */
export type CommandDeclaration =
  | { readonly needs: "nothing"; readonly handle: Handler<Request> }
  | { readonly needs: "session"; readonly handle: Handler<SessionRequest> }
  | { readonly needs: "tree"; readonly handle: Handler<TreeRequest> };

const withoutSession = (handle: Handler<Request>): CommandDeclaration => ({
  needs: "nothing",
  handle,
});
const inSession = (handle: Handler<SessionRequest>): CommandDeclaration => ({
  needs: "session",
  handle,
});
const inTree = (handle: Handler<TreeRequest>): CommandDeclaration => ({ needs: "tree", handle });

export const handlers: Readonly<Record<number, CommandDeclaration>> = {
  [Command.negotiate]: withoutSession(negotiate),
  [Command.sessionSetup]: withoutSession(sessionSetup),
  [Command.logoff]: inSession(logoff),
  [Command.treeConnect]: inSession(treeConnect),
  [Command.treeDisconnect]: inTree(treeDisconnect),
  [Command.create]: inTree(create),
  [Command.close]: inTree(close),
  [Command.flush]: inTree(flush),
  [Command.read]: inTree(read),
  [Command.write]: inTree(write),
  [Command.lock]: inTree(lock),
  [Command.ioctl]: inTree(ioctl),
  [Command.echo]: withoutSession(echo),
  [Command.queryDirectory]: inTree(queryDirectory),
  [Command.changeNotify]: inTree(changeNotify),
  [Command.queryInfo]: inTree(queryInfo),
  [Command.setInfo]: inTree(setInfo),
  [Command.oplockBreak]: inSession(oplockBreak),
};
