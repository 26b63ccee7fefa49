import type { Accounts } from "../account/settings.ts";
import { Waits } from "../operation/work.ts";
import type { Meter } from "../protocol/meter.ts";
import type { World } from "../base/world.ts";
import { type SmbAdministration, smbListener } from "../smb/server.ts";
import { setReading } from "../http/limits/connections.ts";
import type { Observer } from "../http/http-service.ts";
import type { AuditLog } from "./audit-log.ts";
import type { DataStores } from "../data/data-stores.ts";
import { smbTitle } from "./service-listener.ts";
import { bind, unref, type BoundSocket, type Listener } from "./listener.ts";
import type { Options } from "./options.ts";
import type { ServerEnvironment } from "./server-environment.ts";
import type { RequestLimits } from "./request-limits.ts";
import { closeOrphanedHandles } from "../file/filesystem/sweep.ts";
import { meteredContent } from "./metered-content.ts";

/** Options of `listenSmb`, which serves the files of the file service to SMB clients. */
export interface SmbEndpointOptions extends World, RequestLimits {
  readonly meter: Meter;
  readonly accounts: Accounts;
  readonly stores: DataStores;
  readonly options: Options;
  /** Called if the port is in use and a free one is used instead; without it that is an error. */
  readonly onPortReplaced?: ((notice: string) => void) | undefined;
  /** The socket that the supervisor of workers has bound; undefined without `--workers`. */
  readonly socket?: BoundSocket | undefined;
  readonly auditLog?: AuditLog | undefined;
  /** Gets the changes of files by SMB clients, for the request feed of the admin API. */
  readonly observer: Observer;
  /** The network of a simulation; undefined: that of this machine. */
  readonly machine?: ServerEnvironment["machine"];
}

/** The SMB listener of a server; `administration` is for the views of the admin API. */
export interface SmbEndpoint extends Pick<Listener, "url" | "unref"> {
  disconnectAll(): void;
  stop(): Promise<void>;
  readonly administration: SmbAdministration;
}

const serverName = "etagere";

/** Listens for SMB clients; they share files and locks with the REST file service. */
export async function listenSmb(given: SmbEndpointOptions): Promise<SmbEndpoint> {
  const { clock, random, log, meter, accounts, stores, options } = given;
  const { memory, connections, onPortReplaced } = given;
  const { smbHost: host, smbPort: port } = options;
  const { store, quotas } = stores;
  const content = meteredContent(stores.content, meter);
  const waits = new Waits();
  const runtime = { store, content, random, clock, origin: stores.owner, quotas, waits };
  await closeOrphanedHandles(runtime, stores.owners);
  const listener = smbListener({
    clock,
    random,
    log,
    accounts,
    runtime,
    owner: stores.owner,
    memory,
    watchFrames: setReading,
    audit: given.auditLog?.smb,
    reportChange: (change) => given.observer.watchFiles?.(change),
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
  const { socket: bound } = given;
  await (given.machine?.bind ?? bind)(server, {
    title: smbTitle,
    host,
    port,
    onPortReplaced,
    socket: bound,
  });
  const address = server.address();
  const taken = typeof address === "object" && address !== null ? address.port : port;
  return {
    url: `smb://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    administration: listener.administration,
    disconnectAll: () => listener.disconnectAll(),
    // An SMB client reconnects by itself; its session cannot move to another process.
    stop: () => listener.stop(),
    unref: () => unref(server),
  };
}
