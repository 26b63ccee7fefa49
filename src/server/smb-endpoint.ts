import type { Accounts } from "../account/settings.ts";
import type { Meter } from "../protocol/meter.ts";
import type { Clock, Log, Random } from "../base/world.ts";
import type { SmbAdministration } from "../smb/administration.ts";
import { smbListener } from "../smb/listen.ts";
import { setReading } from "../http/connections.ts";
import type { AuditLog } from "./audit/audit-log.ts";
import type { DataStores } from "./data-stores.ts";
import { closeOrphanedHandles } from "./orphaned-handles.ts";
import { bind, unref } from "./listener.ts";
import { smbTitle } from "./endpoint-names.ts";
import type { Listener } from "./listener.ts";
import { meteredContent } from "./metered-content.ts";
import type { Options } from "./options.ts";
import type { RequestLimits } from "./request-limits.ts";

export interface SmbEndpointOptions extends RequestLimits {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly meter: Meter;
  readonly accounts: Accounts;
  readonly engines: DataStores;
  readonly options: Options;
  readonly onPortReplaced?: ((notice: string) => void) | undefined;
  readonly beforeListen?: (() => void) | undefined;
  readonly auditLog?: AuditLog | undefined;
}

export interface SmbEndpoint extends Omit<Listener, "address"> {
  readonly administration: SmbAdministration;
}

const serverName = "etagere";

/** Listens for SMB clients; they share files and locks with the REST file service. */
export async function listenSmb(given: SmbEndpointOptions): Promise<SmbEndpoint> {
  const { clock, random, log, meter, accounts, engines, options } = given;
  const { memory, connections, onPortReplaced, beforeListen } = given;
  const { smbHost: host, smbPort: port } = options;
  const { store, quotas } = engines;
  const content = meteredContent(engines.content, meter);
  const runtime = { store, content, random, clock, origin: engines.owner, quotas };
  await closeOrphanedHandles(runtime, engines.owners);
  const listener = smbListener({
    clock,
    random,
    log,
    accounts,
    runtime,
    owner: engines.owner,
    memory,
    watchFrames: setReading,
    audit: given.auditLog?.smb,
    options: {
      allowsOldestDialect: options.smbOldestDialect,
      requiresSigning: options.smbSigning === "required",
      serverName,
    },
  });
  const { server } = listener;
  server.prependListener("connection", (socket) => {
    // An SMB client that has sent nothing yet can get no error response, so the connection is
    // closed.
    if (!connections.add(socket)) socket.destroy();
  });
  await bind(server, { title: smbTitle, host, port, onPortReplaced, beforeListen });
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : port;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= listener.stop());
  return {
    url: `smb://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    administration: listener.administration,
    // An SMB client reconnects by itself; its session cannot move to another process.
    drain: stop,
    stop,
    unref: () => unref(server),
  };
}
