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

/** What must exist before the handler of a command runs. */
export type Declaration =
  | { readonly needs: "nothing"; readonly handle: Handler<Request> }
  | { readonly needs: "session"; readonly handle: Handler<SessionRequest> }
  | { readonly needs: "tree"; readonly handle: Handler<TreeRequest> };

const free = (handle: Handler<Request>): Declaration => ({ needs: "nothing", handle });
const inSession = (handle: Handler<SessionRequest>): Declaration => ({ needs: "session", handle });
const inTree = (handle: Handler<TreeRequest>): Declaration => ({ needs: "tree", handle });

export const handlers: Readonly<Record<number, Declaration>> = {
  [Command.negotiate]: free(negotiate),
  [Command.sessionSetup]: free(sessionSetup),
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
  [Command.echo]: free(echo),
  [Command.queryDirectory]: inTree(queryDirectory),
  [Command.changeNotify]: inTree(changeNotify),
  [Command.queryInfo]: inTree(queryInfo),
  [Command.setInfo]: inTree(setInfo),
  [Command.oplockBreak]: inSession(oplockBreak),
};
