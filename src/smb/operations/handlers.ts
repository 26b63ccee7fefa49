import type { Handler, Request, SessionRequest, TreeRequest } from "../request.ts";
import { Command } from "../wire/protocol.ts";
import { echo } from "./echo.ts";
import { logoff } from "./logoff.ts";
import { negotiate } from "./negotiate.ts";
import { sessionSetup } from "./session-setup.ts";
import { treeConnect, treeDisconnect } from "./tree-connect.ts";

/** What a message needs to be there before it runs. */
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
  [Command.echo]: free(echo),
};
