import type { Wait } from "../operation/work.ts";
import type { SmbServerState } from "./server.ts";
import { endSession, type Session } from "./session.ts";
import { Dialect } from "./wire/protocol.ts";

/** What the administration API may do with SMB: list the sessions of this server process, and end
 *  one. */
export interface SmbAdministration {
  sessions(): readonly SessionFacts[];
  /** The requests of this process that wait for a lock or a break. */
  waits(): readonly Wait[];
  /** Waits of this process, and break notifications that it has sent, since its start. */
  counts(): { readonly waits: number; readonly breaks: number };
  /** Ends a session and closes its handles. False if no session has this id. */
  end(id: bigint): Promise<boolean>;
}

/** A session as the administration API shows it. */
export interface SessionFacts {
  readonly id: bigint;
  readonly account: string;
  readonly clients: readonly string[];
  readonly dialect: string;
  readonly isSigned: boolean;
  readonly isEncrypted: boolean;
  readonly shares: readonly string[];
  readonly openCount: number;
}

const dialectNames: Readonly<Record<number, string>> = {
  [Dialect.v202]: "2.0.2",
  [Dialect.v210]: "2.1",
  [Dialect.v300]: "3.0",
  [Dialect.v302]: "3.0.2",
  [Dialect.v311]: "3.1.1",
};

export function administrationOf(server: SmbServerState): SmbAdministration {
  return {
    sessions: () => [...server.sessions.values()].map(factsOf),
    waits: () => server.world.runtime.waits?.list() ?? [],
    counts: () => ({
      waits: server.world.runtime.waits?.count ?? 0,
      breaks: server.breakNotifier.sentCount,
    }),
    async end(id) {
      const session = server.sessions.get(id);
      if (session === undefined) return false;
      await endSession(server, session, "close");
      return true;
    },
  };
}

function factsOf(session: Session): SessionFacts {
  const { id, account, negotiated, channels, trees, handles } = session;
  return {
    id,
    account,
    clients: [...channels].map(({ connection }) => connection.peer),
    dialect: dialectNames[negotiated.dialect] ?? "",
    isSigned: session.signingRequired,
    isEncrypted: session.requiresEncryption,
    shares: [...trees.values()]
      .filter(({ kind }) => kind === "disk")
      .map((tree) => tree.share.name),
    openCount: handles.size,
  };
}
