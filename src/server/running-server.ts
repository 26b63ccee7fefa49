import type { FigureSample } from "../admin/views/figures.ts";
import type { ServiceName } from "../protocol/service-name.ts";
import type { Service } from "../operation/service.ts";
import { resetAccounts } from "../account/account-records.ts";
import { smbTitle, type EndpointName } from "./endpoint-names.ts";
import { openAccountRecords, reloadAccounts } from "./ensure-accounts.ts";
import type { ReloadableAccounts } from "./accounts.ts";
import { writeAccessOf } from "./access-log.ts";
import { listenAdmin, type AdminListener } from "./admin-listener.ts";
import type { Background } from "./background.ts";
import { ServedCertificate } from "./https/served-certificate.ts";
import { openDataStores, type DataStores } from "./data-stores.ts";
import { dataStoreOptions } from "./data-store-options.ts";
import { openIdentity, type ServerIdentity } from "./token-verification.ts";
import { sweepHandlesInBackground } from "./orphaned-handles.ts";
import { FaultInjector } from "./faults/fault-injector.ts";
import { applyInit } from "./init/apply-init.ts";
import { listen } from "./listener.ts";
import { OpenListeners } from "./open-listeners.ts";
import type { BoundAddress, Handler, Listener, ListenerOptions } from "./listener.ts";
import type { HttpService } from "../http/http-service.ts";
import type { Observer } from "../http/observer.ts";
import type { CommitRole } from "../store/commit-role.ts";
import { OwnEndpoints } from "../http/source/own-endpoints.ts";
import { remoteSources } from "../http/source/remote-source.ts";
import { sourcePolicy } from "../http/source/source-policy.ts";
import type { SourceReader } from "../http/source/source-reader.ts";
import type { Transfers } from "../http/source/transfers.ts";
import { runServiceTransfers } from "./service-transfers.ts";
import { newMetrics, type Metrics } from "./metrics.ts";
import { processFigures } from "./process-figures.ts";
import { sourceRanges, type Options } from "./options.ts";
import { newRequestLimits, type RequestLimits } from "./request-limits.ts";
import {
  blobApisOf,
  blobHandlerOf,
  handlerOf,
  httpServiceOf,
  services,
  type BlobApis,
  type HandlerParts,
} from "./services.ts";
import { stateControls, type StateControls } from "./state-controls.ts";
import type { SmbEndpoint } from "./smb-endpoint.ts";
import type { ServerEnvironment } from "./server-environment.ts";
import {
  announceServices,
  listeningLine,
  onPortReplaced,
  serviceListener,
  startingLine,
} from "./service-listener.ts";

export interface RunningServerOptions extends ServerEnvironment {
  readonly options: Options;
  readonly accounts: ReloadableAccounts;
  /** Undefined stores everything in memory. */
  readonly location: string | undefined;
}

/** A server from start to stop: listeners, stores and background tasks. */
export class RunningServer {
  readonly urls: Partial<Record<EndpointName, string>> = {};
  /** URL of the SMB endpoint; empty before the start and if SMB is not served. */
  smbUrl = "";
  readonly #given: RunningServerOptions;
  #certificate: ServedCertificate | undefined;
  readonly #engines: DataStores;
  readonly #metrics: Metrics;
  readonly #limits: RequestLimits;
  readonly observer: Observer;
  readonly faults: FaultInjector;
  readonly controls: StateControls;
  /** Creates what does not exist yet. */
  readonly init: (init: Options["init"]) => Promise<void>;
  readonly #identity: ServerIdentity;
  readonly #endpoints = new OwnEndpoints();
  readonly #remote: SourceReader;
  readonly #httpServices: Partial<Record<ServiceName, HttpService>> = {};
  /** The calls of this process that wait for a break of caching grants. */
  readonly callWaits = () => this.#httpServices.file?.runtime.waits?.list() ?? [];
  #blobApis: BlobApis | undefined;
  #smb: SmbEndpoint | undefined;
  #admin: AdminListener | undefined;
  readonly listeners = new OpenListeners();
  #transfers: Transfers | undefined;
  #sweeping: Background | undefined;
  #state: "starting" | "ready" | "stopping" = "starting";
  #stopped: Promise<void> | undefined;

  private constructor(given: RunningServerOptions, engines: DataStores, metrics: Metrics) {
    this.#given = given;
    this.#engines = engines;
    this.#metrics = metrics;
    this.observer = { watch: undefined, audit: given.auditLog?.request };
    this.faults = new FaultInjector(given.clock);
    this.controls = stateControls(given, engines);
    this.init = (init) => applyInit(given, engines, init);
    this.#limits = newRequestLimits(given.clock, given.worker?.workerCount);
    this.#identity = openIdentity(given);
    this.#remote = remoteSources(sourcePolicy(sourceRanges(given.options), this.#endpoints));
  }

  static async open(given: RunningServerOptions): Promise<RunningServer> {
    const certificate = await ServedCertificate.open(given);
    const metrics = newMetrics();
    const engines = await openDataStores({ ...dataStoreOptions(given), meter: metrics });
    const server = new RunningServer(given, engines, metrics);
    server.#certificate = certificate;
    try {
      await openAccountRecords(engines.store, given);
      await server.init(given.options.init);
      for (const service of services) {
        if (given.options.services.includes(service.name)) await server.#listen(service);
      }
      await server.#listenDfs();
      await server.#listenAsMain();
      const sources = { endpoints: server.#endpoints, remote: server.#remote };
      server.#transfers = runServiceTransfers(given, engines, sources);
      server.#sweeping = sweepHandlesInBackground(given, engines);
    } catch (error) {
      await server.stop();
      throw error;
    }
    server.#state = "ready";
    return server;
  }

  get adminUrl(): string {
    return this.#admin?.url ?? "";
  }

  /** Undefined if another worker serves it. */
  get adminAddress(): BoundAddress | undefined {
    return this.#admin?.address;
  }

  sample(): FigureSample {
    return this.#metrics.sample(processFigures());
  }

  setCommitRole(role: CommitRole): Promise<void> {
    return this.#engines.setCommitRole(role);
  }

  /** Stops after another process took over the ports: connections get time to end, no reset. */
  async drainAndStop(): Promise<void> {
    await this.#admin?.close();
    await this.listeners.drain();
    await this.stop();
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  reset(): Promise<void> {
    this.#given.log.info({}, "reset: deleting all data on request");
    const names = services.map(({ name }) => name);
    return resetAccounts(this.#engines.store, names, this.#given.random);
  }

  /** Reads the certificate and the settings of the accounts again. */
  async reloadSettings(): Promise<void> {
    await this.#certificate?.reload();
    await this.#given.auditLog?.reopen();
    await reloadAccounts(this.#engines.store, this.#given);
  }

  async reload(): Promise<void> {
    await this.reloadSettings();
    // The login link of the start may have been used, or no login was required then.
    this.#given.announce(`Etagere explorer: open ${this.explorerLink()}`);
  }

  async #stop(): Promise<void> {
    this.#state = "stopping";
    await this.#admin?.close();
    announceServices(this.urls, "is closing...", this.#given.announce);
    this.#identity.tokens.close();
    this.#certificate?.close();
    await this.listeners.stop();
    await Promise.all([this.#transfers?.stop(), this.#sweeping?.stop()]);
    await this.controls.snapshots.close();
    await this.#engines.close();
    await Promise.all([this.#given.accessLog?.close(), this.#given.auditLog?.close()]);
    announceServices(this.urls, "successfully closed", this.#given.announce);
  }

  #handlerParts(): HandlerParts {
    return { writeAccess: writeAccessOf(this.#given.accessLog), faults: this.faults };
  }

  async #listen(service: Service): Promise<void> {
    const { name } = service;
    const world = {
      ...this.#given,
      engines: this.#engines,
      meter: this.#metrics,
      observer: this.observer,
      tokens: this.#identity.tokens,
      ...this.#limits,
      endpoints: this.#endpoints,
      remote: this.#remote,
    };
    const httpService = httpServiceOf(service, world);
    this.#httpServices[name] = httpService;
    if (name === "blob") this.#blobApis = blobApisOf(httpService, world);
    const handler =
      this.#blobApis !== undefined && name === "blob"
        ? blobHandlerOf(this.#blobApis, name, this.#handlerParts())
        : handlerOf(httpService, this.#handlerParts());
    await this.#listenAt(name, name, handler);
  }

  async #listenDfs(): Promise<void> {
    if (this.#blobApis === undefined) return;
    const handler = blobHandlerOf(this.#blobApis, "dfs", this.#handlerParts());
    await this.#listenAt("blob", "dfs", handler);
  }

  async #listenAt(service: ServiceName, name: EndpointName, handler: Handler): Promise<void> {
    const certificate = this.#certificate;
    const { announce, options, worker } = this.#given;
    const announceReplaced = onPortReplaced(this.#given, `${name}Port`);
    const listening = {
      ...serviceListener(options, service, name),
      onPortReplaced: announceReplaced,
    };
    announce(startingLine(name, listening, certificate !== undefined));
    const handlers = { handler, onRequest: worker?.onRequest };
    const { url, address } = await this.#add({ ...listening, certificate, ...handlers });
    this.#endpoints.listens(service, address);
    this.urls[name] = url;
    announce(listeningLine(name, url));
  }

  async #listenSmb(): Promise<void> {
    const { announce, worker } = this.#given;
    const beforeListen = (): void => worker?.beforeListen(smbTitle);
    const ports = { onPortReplaced: onPortReplaced(this.#given, "smbPort"), beforeListen };
    const stores = { engines: this.#engines, meter: this.#metrics };
    const { listenSmb } = await import("./smb-endpoint.ts");
    const listener = await listenSmb({ ...this.#given, ...ports, ...this.#limits, ...stores });
    this.listeners.add(listener);
    this.#smb = listener;
    this.smbUrl = listener.url;
    announce(`Etagere SMB endpoint is successfully listening at ${listener.url}`);
  }

  /** SMB and the admin listener; of several workers one serves them. */
  async #listenAsMain(): Promise<void> {
    const { options, worker } = this.#given;
    if (worker?.isMain === false) {
      if (worker.adminAddress !== undefined) this.#endpoints.listensForAdmin(worker.adminAddress);
      return;
    }
    if (!options.noSmb && options.services.includes("file")) await this.#listenSmb();
    this.#admin = await listenAdmin({
      given: this.#given,
      memory: this.#limits.memory,
      engines: this.#engines,
      httpServices: this.#httpServices,
      dfs: this.#blobApis?.dfs,
      observer: this.observer,
      smb: this.#smb?.administration,
      local: this.#identity.local,
      sample: async () => (await worker?.sampleAll(this.sample())) ?? this.sample(),
      addresses: () => ({ adminUrl: this.adminUrl, smbUrl: this.smbUrl, urls: this.urls }),
      ready: () => this.#checkReady(),
      reset: () => this.reset(),
      controls: this.controls,
      certificate: this.#certificate,
      onPortReplaced: onPortReplaced(this.#given, "adminPort"),
      listen: (listening) => this.#add(listening),
    });
    this.#endpoints.listensForAdmin(this.#admin.address);
  }

  explorerLink(): string {
    return this.#admin?.explorerLink() ?? "";
  }

  async #add(
    options: Omit<ListenerOptions, "clock" | "connections" | "beforeListen">,
  ): Promise<Listener> {
    const { connections } = this.#limits;
    const { clock, worker } = this.#given;
    const beforeListen = (): void => worker?.beforeListen(options.title);
    const listener = await listen({ ...options, clock, connections, beforeListen });
    this.listeners.add(listener);
    return listener;
  }

  async #checkReady(): Promise<void> {
    if (this.#state !== "ready") throw new Error(`server is ${this.#state}`);
    await this.#engines.check();
  }
}
