import type { Handler, Request, SessionRequest, TreeRequest } from "../request.ts";
import { Command } from "../wire/protocol.ts";
import { changeNotify } from "./change-notify.ts";
import { close, flush } from "./close.ts";
import { create } from "./create.ts";
import { echo } from "./echo.ts";
import { ioctl } from "./ioctl.ts";
import { lock } from "./lock.ts";
import { logoff } from "./logoff.ts";
import { negotiate } from "./negotiate.ts";
import { oplockBreak } from "./oplock-break.ts";
import { queryDirectory } from "./query-directory.ts";
import { queryInfo } from "./query-info.ts";
import { read } from "./read.ts";
import { sessionSetup } from "./session-setup.ts";
import { setInfo } from "./set-info.ts";
import { treeConnect, treeDisconnect } from "./tree-connect.ts";
import { write } from "./write.ts";

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
