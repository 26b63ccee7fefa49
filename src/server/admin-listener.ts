import { pid } from "node:process";
import { entriesIn } from "../process/folder-listing.ts";
import { reachable } from "../admin/connection-string.ts";
import { isLoopback } from "../admin/security/same-origin.ts";
import { publishAdminAddress } from "./admin-address.ts";
import { adminTitle } from "./service-listener.ts";
import { authorityFile } from "./https/certificate-folder.ts";
import type { ServedCertificate } from "./https/served-certificate.ts";
import type { BoundAddress, Listener, ListenerOptions } from "./listener.ts";
import { isDevelopmentAlone } from "../account/settings.ts";
import type { Log, Random } from "../base/world.ts";
import type { Options } from "./options.ts";
import { join } from "node:path";
import type { AdminContext, ServerFacts, Sizes } from "../admin/admin-context.ts";
import { adminHandler } from "../admin/handler.ts";
import type { IdentityContext, LocalIdentity } from "../admin/identity/token-issuer.ts";
import { AccountManager } from "../account/account-changes.ts";
import { IdentityManager } from "../account/identity-manager.ts";
import type { FigureSample } from "../admin/views/figures.ts";
import type { AdminSecurity } from "../admin/security/admin-auth.ts";
import { accountChangeParts } from "../data/ensure-accounts.ts";
import { archiveControl } from "../commands/archive/server-archives.ts";
import type { DataStores } from "../data/data-stores.ts";
import { packageFolder } from "../host/package-folder.ts";
import type { RunningServerOptions, StateControls } from "./running-server.ts";
import { readVersion } from "../host/version.ts";
import { renderEventMetrics, renderMetrics, renderStateMetrics } from "./render-metrics.ts";
import { stat } from "node:fs/promises";

/** Options of `listenAdmin`, which opens the listener of the explorer, the admin API and the
 *  metrics. Only the main worker of a server with several worker processes has it. */
interface AdminListenerOptions extends Omit<AdminParts, "localToken"> {
  readonly onPortReplaced: ListenerOptions["onPortReplaced"];
  readonly listen: (
    options: Omit<ListenerOptions, "clock" | "connections" | "socket">,
  ) => Promise<Listener>;
}

/** The admin listener while it is open. */
export interface AdminListener {
  readonly url: string;
  readonly address: BoundAddress;
  /** URL of the explorer, with a one-time login token if a login is required. */
  explorerLink(): string;
  /** Ends the event streams and removes `admin.json`. Does not stop the listener: the server stops
   *  all listeners together. */
  close(): Promise<void>;
}

const keepAliveSeconds = 5;

export async function listenAdmin(parts: AdminListenerOptions): Promise<AdminListener> {
  const { given, certificate, onPortReplaced } = parts;
  const { options, location, random, announce } = given;
  const { adminHost: host, adminPort: port } = options;
  warnOfExposure({ ...given, isEncrypted: certificate !== undefined });
  const localToken = location === undefined ? undefined : newAdminToken(random);
  const admin = adminHandler(adminContextOf({ ...parts, localToken }));
  const { url, address } = await parts.listen({
    title: adminTitle,
    host,
    port,
    onPortReplaced,
    keepAliveSeconds,
    certificate,
    // Browsers do not trust the certificate of `--https`, so this machine may use HTTP, too.
    acceptsHttp: isLoopback(host),
    handler: admin.handle,
  });
  const unpublish = await publish(parts, url, localToken);
  const explorerLink = (): string => `${reachable(url)}/${admin.loginFragment() ?? ""}`;
  announce(`Etagere admin is successfully listening at ${url}`);
  announce(`Etagere explorer: open ${explorerLink()}`);
  if (options.https && location !== undefined) {
    const advice = 'clients trust it with the variables of "etagere env", others: docs/IDENTITY.md';
    announce(`Etagere certificate authority: ${authorityFile(location)} (${advice})`);
  }
  return {
    url,
    address,
    explorerLink,
    async close() {
      admin.close();
      await unpublish();
    },
  };
}

/** Writes `admin.json` if there is a data folder. Returns the function that removes it. */
async function publish(
  { given }: AdminListenerOptions,
  url: string,
  token: string | undefined,
): Promise<() => Promise<void>> {
  const { location, log } = given;
  const nothing = async (): Promise<void> => {};
  if (location === undefined || token === undefined) return nothing;
  // Writing may fail, for example on a full disk. The server works without the file.
  return publishAdminAddress(location, { url: reachable(url), pid, token }).catch(
    (error: unknown) => {
      log.warn({ err: error }, "admin.json not written; etagere status needs --url");
      return nothing;
    },
  );
}

interface AdminExposure {
  readonly options: Pick<Options, "adminHost">;
  readonly log: Log;
  readonly isEncrypted: boolean;
}

/** Warns about secrets exposed by an admin listener that other machines can reach. */
function warnOfExposure({ options, log, isEncrypted }: AdminExposure): void {
  if (isLoopback(options.adminHost)) return;
  if (!isEncrypted) {
    log.warn({ host: options.adminHost }, "admin logins are not encrypted; set --cert and --key");
  }
}

const tokenBytes = 32;

/** A token for `admin.json`, by which programs that can read the data folder log in. */
function newAdminToken(random: Random): string {
  return Buffer.from(random.bytes(tokenBytes)).toString("hex");
}

type SharedPart = "memory" | "httpServices" | "dfs" | "observer" | "smb" | "ready";

interface AdminParts extends Pick<AdminContext, SharedPart | "subscriptions"> {
  readonly given: RunningServerOptions;
  readonly certificate: ServedCertificate | undefined;
  readonly stores: DataStores;
  /** Keys and principal secrets of the local token service. */
  readonly local: LocalIdentity;
  readonly sample: () => Promise<FigureSample>;
  readonly addresses: () => Pick<ServerFacts, "adminUrl" | "smbUrl" | "urls" | "clients">;
  readonly reset: () => Promise<void>;
  readonly controls: StateControls;
  /** Authenticates programs that can read the data folder; undefined without a data folder. */
  readonly localToken: string | undefined;
}

/** How the admin listener authenticates. No login is required on a loopback address if the only
 *  account is the development account, whose key is published. */
function securityOf(given: RunningServerOptions, localToken: string | undefined): AdminSecurity {
  const { accounts, options } = given;
  const { adminHost, adminToken: token } = options;
  const isMetricsLoginRequired = token !== undefined || !isLoopback(adminHost);
  return {
    isLoginRequired: () => isMetricsLoginRequired || !isDevelopmentAlone(accounts),
    isMetricsLoginRequired,
    token,
    localToken,
  };
}

function identityContextOf({ given, local, addresses, stores }: AdminParts): IdentityContext {
  const { clock, random, log, accounts, options, location } = given;
  const hasAuthority = options.https && location !== undefined;
  const trusted = hasAuthority ? authorityFile(location) : undefined;
  const address = (): string => reachable(addresses().adminUrl);
  const isSecure = options.https || options.cert !== undefined;
  const secureAddress = () => (isSecure ? address().replace(/^http:/, "https:") : undefined);
  const identity = () => accounts.identity();
  const places = { address, secureAddress, authorityFile: trusted };
  const manager = new IdentityManager({ store: stores.store, random }, accounts);
  const refresh = () => accounts.refresh();
  return { identity, refresh, manager, local, clock, random, log, ...places };
}

function adminContextOf(parts: AdminParts): AdminContext {
  const { given, stores, addresses } = parts;
  const { memory, httpServices, dfs, observer, smb, ready, subscriptions } = parts;
  const { clock, random, log, accounts, options, location } = given;
  const version = readVersion();
  const { store, content } = stores;
  const storeKind = location === undefined ? "memory" : undefined;
  const facts = (): ServerFacts => ({
    version,
    store: storeKind ?? (options.store === undefined ? "lmdb" : "postgres"),
    content: storeKind ?? (options.content === undefined ? "disk" : "s3"),
    ...addresses(),
  });
  return {
    clock,
    random,
    log,
    memory,
    accounts,
    accountManager: new AccountManager(accountChangeParts(store, random), accounts),
    subscriptions,
    httpServices,
    dfs,
    observer,
    audit: given.auditLog?.admin,
    otherWorkers: given.worker?.others,
    smb,
    identity: identityContextOf(parts),
    runtime: { store, content, random, clock, log },
    facts,
    figures: { sample: parts.sample },
    sizes: () => sizesOf(location),
    ready,
    metrics: () => allMetrics(parts, facts()),
    reset: options.enableReset ? parts.reset : undefined,
    snapshots: parts.controls.snapshots,
    archives: archiveControl(parts.controls.archives, options.encryption !== undefined),
    pageFolder: join(packageFolder(), "ui", "dist"),
    security: securityOf(given, parts.localToken),
  };
}

async function allMetrics(parts: AdminParts, facts: ServerFacts): Promise<string> {
  const { stores, smb, given, subscriptions } = parts;
  const { location } = given;
  const certificateEnd = parts.certificate?.end;
  const state = await renderStateMetrics({ facts, stores, smb, location, certificateEnd });
  return renderMetrics(await parts.sample()) + (await renderEventMetrics(subscriptions)) + state;
}

/** Bounds the time of a count: further files of a folder are not counted. */
const filesMax = 100_000;

/** Disk space that the stores in a data folder use; nothing is known without one. */
async function sizesOf(location: string | undefined): Promise<Sizes> {
  if (location === undefined) return {};
  const [storeBytes, contentBytes] = await Promise.all([
    folderBytes(join(location, "store")),
    folderBytes(join(location, "extents")),
  ]);
  return {
    ...(storeBytes === undefined ? {} : { storeBytes }),
    ...(contentBytes === undefined ? {} : { contentBytes }),
  };
}

/** Disk space of the files in a folder. Counts allocated blocks instead of file lengths, because
 *  the files of the store are sparse. */
async function folderBytes(folder: string): Promise<number | undefined> {
  const entries = await entriesIn(folder, { isDeep: true }).catch(() => []);
  let bytes: number | undefined;
  for (const entry of entries.slice(0, filesMax)) {
    if (!entry.isFile()) continue;
    // The file may be deleted between listing and stat.
    const found = await stat(join(entry.parentPath, entry.name)).catch(() => undefined);
    bytes = (bytes ?? 0) + Math.min(found?.size ?? 0, (found?.blocks ?? 0) * bytesPerBlock);
  }
  return bytes;
}

const bytesPerBlock = 512;
