import { pid } from "node:process";
import type { AdminHandler } from "../admin/handler.ts";
import { reachable } from "../admin/connection-string.ts";
import { isLoopback } from "../admin/security/same-origin.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import type { Service } from "../operation/service.ts";
import type { Random } from "../base/world.ts";
import { resetAccounts } from "../account/account-records.ts";
import { ensureAccounts, refuseProblems } from "./ensure-accounts.ts";
import type { ReloadableAccounts } from "./accounts.ts";
import { openAdmin } from "./admin.ts";
import { publishAdminAddress } from "./admin-address.ts";
import { warnOfExposure } from "./admin-warnings.ts";
import { runInBackground, type Background } from "./background.ts";
import { readCertificate, type Certificate } from "./certificate.ts";
import { openDataStores, type DataStores } from "./data-stores.ts";
import { sweepDeadHandles } from "./handle-sweep.ts";
import { formatUrl, listen } from "./listener.ts";
import type { Listener } from "./listener.ts";
import type { WriteAccess } from "../http/access-log.ts";
import type { HttpService } from "../http/http-service.ts";
import type { Observer } from "../http/observer.ts";
import { OwnEndpoints } from "../http/source/own-endpoints.ts";
import { transferSources } from "../http/source/own-source.ts";
import { remoteSources } from "../http/source/remote-source.ts";
import { sourcePolicy } from "../http/source/source-policy.ts";
import type { SourceReader } from "../http/source/source-reader.ts";
import { runTransfers, type Transfers } from "../http/source/transfers.ts";
import { newMetrics, type Metrics } from "./metrics.ts";
import { sourceRanges, type Options } from "./options.ts";
import { newRequestLimits, type RequestLimits } from "./request-limits.ts";
import { httpServiceOf, handlerOf, services, titleOf } from "./services.ts";
import { listenSmb, type SmbEndpoint } from "./smb-endpoint.ts";
import type { ServerEnvironment } from "./server-environment.ts";

export interface RunningServerOptions extends ServerEnvironment {
  readonly options: Options;
  readonly accounts: ReloadableAccounts;
  /** Undefined keeps everything in memory. */
  readonly location: string | undefined;
}

/** How long running requests may take to finish when a server stops. */
const graceMilliseconds = 10_000;
const bytesPerMegabyte = 1024 * 1024;
const adminKeepAliveSeconds = 5;

/** Everything that lives between start and stop. */
export class RunningServer {
  readonly urls: Partial<Record<ServiceName, string>> = {};
  adminUrl = "";
  /** Empty if SMB is not served. */
  smbUrl = "";
  readonly #given: RunningServerOptions;
  readonly #engines: DataStores;
  readonly #metrics: Metrics;
  readonly #limits: RequestLimits;
  readonly #observer: Observer = { watch: undefined };
  readonly #endpoints = new OwnEndpoints();
  readonly #remote: SourceReader;
  readonly #doors: Partial<Record<ServiceName, HttpService>> = {};
  #smb: SmbEndpoint | undefined;
  #admin: AdminHandler | undefined;
  #takeAddress: (() => Promise<void>) | undefined;
  readonly #listeners: Pick<Listener, "stop">[] = [];
  #transfers: Transfers | undefined;
  #sweeping: Background | undefined;
  #state: "starting" | "ready" | "stopping" = "starting";
  #stopped: Promise<void> | undefined;

  private constructor(given: RunningServerOptions, engines: DataStores, metrics: Metrics) {
    this.#given = given;
    this.#engines = engines;
    this.#metrics = metrics;
    this.#limits = newRequestLimits(given.clock);
    this.#remote = remoteSources(sourcePolicy(sourceRanges(given.options), this.#endpoints));
  }

  static async open(given: RunningServerOptions): Promise<RunningServer> {
    const certificate = await readCertificate(given.options);
    const metrics = newMetrics();
    const engines = await openDataStores({ ...engineOptions(given), meter: metrics });
    const server = new RunningServer(given, engines, metrics);
    try {
      await refuseProblems(ensureAccounts(engines.store, given.accounts, given.random));
      for (const service of services) {
        if (server.#serves(service.name)) await server.#listen(service, certificate);
      }
      if (!given.options.noSmb && server.#serves("file")) await server.#listenSmb();
      await server.#listenAdmin(certificate);
      server.#transfers = server.#runTransfers();
      server.#sweeping = server.#sweepHandles();
    } catch (error) {
      await server.stop();
      throw error;
    }
    server.#state = "ready";
    return server;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  reset(): Promise<void> {
    const { random, log } = this.#given;
    log.info({}, "everything is deleted on request");
    const names = services.map(({ name }) => name);
    return resetAccounts(this.#engines.store, names, random);
  }

  async reload(): Promise<void> {
    const { accounts, log, random } = this.#given;
    await accounts.reload(log, (next) => ensureAccounts(this.#engines.store, next, random));
    // The link of the start may have been used, or no login was required then.
    this.#given.announce(`Etagere explorer: open ${this.explorerLink()}`);
  }

  async #stop(): Promise<void> {
    this.#state = "stopping";
    this.#admin?.close();
    await this.#takeAddress?.();
    this.#announceAll("is closing...");
    await Promise.all(this.#listeners.map((listener) => listener.stop(graceMilliseconds)));
    await this.#transfers?.stop();
    await this.#sweeping?.stop();
    await this.#engines.close();
    await this.#given.accessLog?.close();
    this.#announceAll("successfully closed");
  }

  /** Of those services that were announced to listen. */
  #announceAll(what: string): void {
    for (const service of services) {
      if (this.urls[service.name] === undefined) continue;
      this.#given.announce(`Azurite ${titleOf(service)} service ${what}`);
    }
  }

  #runTransfers(): Transfers {
    const { clock, log } = this.#given;
    const { store, content } = this.#engines;
    const handlers = new Map(services.flatMap(({ transfers = {} }) => Object.entries(transfers)));
    const read = transferSources({ endpoints: this.#endpoints, elsewhere: this.#remote });
    return runTransfers({ store, content, handlers, read, clock, log });
  }

  #sweepHandles(): Background {
    const { clock, log, random } = this.#given;
    const { store, content, owners } = this.#engines;
    const runtime = { store, content, random, clock };
    const round = async () => {
      await sweepDeadHandles(runtime, owners);
      return false;
    };
    return runInBackground([{ name: "handles", round }], { clock, log });
  }

  #writeAccess(): WriteAccess {
    const { accessLog } = this.#given;
    return accessLog === undefined ? undefined : (entry) => accessLog.write(entry);
  }

  #serves(name: ServiceName): boolean {
    return this.#given.options.services.includes(name);
  }

  #onPortReplaced(name: string): ((notice: string) => void) | undefined {
    const { options, announce } = this.#given;
    const replaceable: ReadonlySet<string> = options.replaceablePorts;
    return replaceable.has(name) ? (notice) => announce(`Etagere ${notice}`) : undefined;
  }

  async #listen(service: Service, certificate: Certificate | undefined): Promise<void> {
    const { announce, options } = this.#given;
    const { name } = service;
    const door = httpServiceOf(service, {
      ...this.#given,
      engines: this.#engines,
      meter: this.#metrics,
      observer: this.#observer,
      memory: this.#limits.memory,
      endpoints: this.#endpoints,
      remote: this.#remote,
    });
    this.#doors[name] = door;
    const title = titleOf(service);
    const host = options[`${name}Host`];
    const port = options[`${name}Port`];
    const starting = formatUrl(certificate !== undefined, host, port);
    announce(`Azurite ${title} service is starting at ${starting}`);
    const { url, bound } = await this.#add({
      title: `${title} service`,
      host,
      port,
      onPortReplaced: this.#onPortReplaced(`${name}Port`),
      keepAliveSeconds: options[`${name}KeepAliveTimeout`],
      certificate,
      handler: handlerOf(door, this.#writeAccess()),
    });
    this.#endpoints.listens(name, bound);
    this.urls[name] = url;
    announce(`Azurite ${title} service is successfully listening at ${url}`);
  }

  async #listenSmb(): Promise<void> {
    const { clock, random, log, announce, accounts, options } = this.#given;
    const onPortReplaced = this.#onPortReplaced("smbPort");
    const common = { clock, random, log, accounts, options, onPortReplaced, ...this.#limits };
    const listener = await listenSmb({ ...common, engines: this.#engines, meter: this.#metrics });
    this.#listeners.push(listener);
    this.#smb = listener;
    this.smbUrl = listener.url;
    announce(`Etagere SMB endpoint is successfully listening at ${listener.url}`);
  }

  async #listenAdmin(certificate: Certificate | undefined): Promise<void> {
    const { options, announce, log, location } = this.#given;
    const isAway = !isLoopback(options.adminHost);
    warnOfExposure({ ...this.#given, isEncrypted: certificate !== undefined });
    const localToken = location === undefined ? undefined : newToken(this.#given.random);
    const admin = this.#openAdmin(localToken);
    this.#admin = admin;
    const { url, bound } = await this.#add({
      title: "Admin listener",
      host: options.adminHost,
      port: options.adminPort,
      onPortReplaced: this.#onPortReplaced("adminPort"),
      keepAliveSeconds: adminKeepAliveSeconds,
      certificate: isAway ? certificate : undefined,
      handler: admin.handle,
    });
    this.#endpoints.listensForAdmin(bound);
    this.adminUrl = url;
    if (location !== undefined && localToken !== undefined) {
      const address = { url: reachable(url), pid, token: localToken };
      // On a full disk it cannot be left, and the server is of use nevertheless.
      this.#takeAddress = await publishAdminAddress(location, address).catch((error: unknown) => {
        log.warn({ err: error }, "etagere status will not find this server by its location");
        return undefined;
      });
    }
    announce(`Etagere admin is successfully listening at ${url}`);
    announce(`Etagere explorer: open ${this.explorerLink()}`);
  }

  /** With a token that logs in once, where a login is required. */
  explorerLink(): string {
    return `${reachable(this.adminUrl)}/${this.#admin?.loginFragment() ?? ""}`;
  }

  #openAdmin(localToken: string | undefined): AdminHandler {
    return openAdmin({
      given: this.#given,
      engines: this.#engines,
      doors: this.#doors,
      observer: this.#observer,
      smb: this.#smb?.administration,
      metrics: this.#metrics,
      addresses: () => ({ adminUrl: this.adminUrl, smbUrl: this.smbUrl, urls: this.urls }),
      ready: () => this.#checkReady(),
      reset: () => this.reset(),
      localToken,
    });
  }

  async #add(
    options: Omit<Parameters<typeof listen>[0], "clock" | "connections">,
  ): Promise<Listener> {
    const { connections } = this.#limits;
    const listener = await listen({ ...options, clock: this.#given.clock, connections });
    this.#listeners.push(listener);
    return listener;
  }

  async #checkReady(): Promise<void> {
    if (this.#state !== "ready") throw new Error(`the server is ${this.#state}`);
    await this.#engines.check();
  }
}

const tokenBytes = 32;

function newToken(random: Random): string {
  return Buffer.from(random.bytes(tokenBytes)).toString("hex");
}

function engineOptions(given: RunningServerOptions) {
  const { options, location, clock, random, log } = given;
  const { extentMemoryLimit } = options;
  const memoryBytesMax =
    extentMemoryLimit === undefined ? undefined : Math.floor(extentMemoryLimit * bytesPerMegabyte);
  const places = { location, storeUrl: options.store, contentUrl: options.content, memoryBytesMax };
  return { ...places, services, clock, random, log };
}
