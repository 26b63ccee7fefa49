import { join } from "node:path";
import type { AdminContext, HttpServices, ServerFacts } from "../admin/admin-context.ts";
import { adminHandler, type AdminHandler } from "../admin/handler.ts";
import { reachable } from "../admin/connection-string.ts";
import type { IdentityContext } from "../admin/identity/identity-context.ts";
import type { LocalIdentity } from "../admin/identity/local-identity.ts";
import { TokenIssuer } from "../admin/identity/token-issuer.ts";
import { AccountManager } from "../account/account-manager.ts";
import { isDevelopmentAlone } from "../account/settings.ts";
import type { FigureSample } from "../admin/views/figures.ts";
import type { AdminSecurity } from "../admin/security/admin-auth.ts";
import { isLoopback } from "../admin/security/same-origin.ts";
import type { HttpService } from "../http/http-service.ts";
import type { Observer } from "../http/observer.ts";
import type { SmbAdministration } from "../smb/administration.ts";
import { accountChangeParts } from "./account-change-parts.ts";
import { archiveControl } from "./archive/archive-control.ts";
import { authorityFile } from "./https/certificate-folder.ts";
import type { DataStores } from "./data-stores.ts";
import { packageFolder } from "./package-folder.ts";
import { renderMetrics } from "./render-metrics.ts";
import type { RequestLimits } from "./request-limits.ts";
import type { RunningServerOptions } from "./running-server.ts";
import { sizesOf } from "./sizes.ts";
import type { StateControls } from "./state-controls.ts";
import { readVersion } from "./version.ts";

export interface AdminParts extends Pick<RequestLimits, "memory"> {
  readonly given: RunningServerOptions;
  readonly engines: DataStores;
  readonly httpServices: HttpServices;
  readonly dfs: HttpService | undefined;
  readonly observer: Observer;
  readonly smb: SmbAdministration | undefined;
  /** Keys and secrets of the local token service. */
  readonly local: LocalIdentity;
  /** Figures of all processes of the server. */
  readonly sample: () => Promise<FigureSample>;
  readonly addresses: () => Pick<ServerFacts, "adminUrl" | "smbUrl" | "urls">;
  readonly ready: () => Promise<void>;
  readonly reset: () => Promise<void>;
  readonly controls: StateControls;
  /** Authenticates programs that can read the data folder; undefined without a data folder. */
  readonly localToken: string | undefined;
}

export function openAdmin(parts: AdminParts): AdminHandler {
  return adminHandler(adminContextOf(parts));
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

function identityContextOf({ given, local, addresses }: AdminParts): IdentityContext {
  const { clock, random, log, accounts, options, location } = given;
  const hasAuthority = options.https && location !== undefined;
  const trusted = hasAuthority ? authorityFile(location) : undefined;
  const address = (): string => reachable(addresses().adminUrl);
  const isSecure = options.https || options.cert !== undefined;
  const secureAddress = () => (isSecure ? address().replace(/^http:/, "https:") : undefined);
  const issuer = new TokenIssuer({ identity: local, clock, random, address });
  const identity = () => accounts.identity();
  const places = { address, secureAddress, authorityFile: trusted };
  return { identity, local, issuer, clock, log, ...places };
}

function adminContextOf(parts: AdminParts): AdminContext {
  const { given, engines, httpServices, dfs, observer, smb, addresses } = parts;
  const { clock, random, log, accounts, options, location } = given;
  const version = readVersion();
  const { store, content } = engines;
  const storeKind = location === undefined ? "memory" : undefined;
  return {
    clock,
    random,
    log,
    memory: parts.memory,
    accounts,
    accountManager: new AccountManager(accountChangeParts(store, random), accounts),
    httpServices,
    dfs,
    observer,
    audit: given.auditLog?.admin,
    otherWorkers: given.worker?.others,
    smb,
    identity: identityContextOf(parts),
    runtime: { store, content, random, clock, log },
    facts: () => ({
      version,
      store: storeKind ?? (options.store === undefined ? "lmdb" : "postgres"),
      content: storeKind ?? (options.content === undefined ? "disk" : "s3"),
      ...addresses(),
    }),
    figures: { sample: parts.sample },
    sizes: () => sizesOf(location),
    ready: parts.ready,
    metrics: async () => renderMetrics(await parts.sample()),
    reset: options.enableReset ? parts.reset : undefined,
    snapshots: parts.controls.snapshots,
    archives: archiveControl(parts.controls.archives),
    pageFolder: join(packageFolder(), "ui", "dist"),
    security: securityOf(given, parts.localToken),
  };
}
