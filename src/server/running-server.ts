import type { FigureSample } from "../admin/views/figures.ts";
import { dfsService } from "../blob/dfs/service.ts";
import { isPathRequest } from "../blob/service.ts";
import type { ServiceName } from "../protocol/names.ts";
import type { Service } from "../operation/service.ts";
import { resetAccounts } from "../account/account-records.ts";
import {
  announceServices,
  onPortReplaced,
  serviceLine,
  serviceListener,
  smbTitle,
  type EndpointName,
} from "./service-listener.ts";
import { completeAccounts, openAccountRecords, reloadAccounts } from "../data/ensure-accounts.ts";
import type { ServedAccounts } from "../data/accounts.ts";
import { writeAccessOf } from "./access-log.ts";
import { listenAdmin, type AdminListener } from "./admin-listener.ts";
import { runInBackground, type Background } from "../data/background.ts";
import { ServedCertificate } from "./https/served-certificate.ts";
import { SeenClients, handlerOf, httpServiceOf, inProcessServices } from "./http-services.ts";
import { openDataStores, type DataStores } from "../data/data-stores.ts";
import { openIdentity, type ServerIdentity } from "./identity-file.ts";
import type { SmbEndpoint } from "./smb-endpoint.ts";
import { closeOrphanedHandles } from "../file/filesystem/sweep.ts";
import { reachable } from "../admin/connection-string.ts";
import { runEventDelivery, type EventDelivery } from "../events/event-delivery.ts";
import { LogRetention } from "../events/log-retention.ts";
import { SubscriptionManager } from "../events/subscription-manager.ts";
import type { WebhookRules } from "../events/webhook.ts";
import { FaultInjector } from "../controls/fault-injector.ts";
import type { Accounts } from "../account/settings.ts";
import { applyInit } from "../commands/init/apply-init.ts";
import {
  formatUrl,
  listen,
  type BoundAddress,
  type Listener,
  type ListenerOptions,
  type StopPace,
} from "./listener.ts";
import type { HttpService, Observer } from "../http/http-service.ts";
import { OwnEndpoints } from "../http/source/own-endpoints.ts";
import { remoteSources } from "../http/source/remote-source.ts";
import { sourcePolicy } from "../http/source/source-policy.ts";
import type { SourceReader } from "../http/source/source-reader.ts";
import { runTransfers, type Transfers } from "../http/source/transfers.ts";
import { newMetrics, type Metrics } from "./metrics.ts";
import { processFigures } from "../host/process.ts";
import { eventLogLimits, sourceRanges, webhookPrefixes, type Options } from "./options.ts";
import { services } from "../data/services.ts";
import { newRequestLimits, type RequestLimits } from "./request-limits.ts";
import type { ServerEnvironment } from "./server-environment.ts";
import type { Clock, Log, Random } from "../base/world.ts";
import { transferSources } from "../http/source/open-sources.ts";
import { ServerArchives } from "../commands/archive/server-archives.ts";
import { ServerSnapshots } from "../controls/server-snapshots.ts";

/** Runs a server from start to stop: opens its stores and listeners, runs the background tasks, and
 *  closes them in order. */

/** Operations of a running server on the whole state of accounts, for the admin API and for
 *  programs (`server.snapshot()`, `server.export()`). */
export interface StateControls {
  readonly snapshots: ServerSnapshots;
  readonly archives: ServerArchives;
  readonly random: Random;
  /** Source of the master key of the data; undefined if it is not encrypted. */
  readonly encryption: string | undefined;
}

function stateControls(
  given: Pick<RunningServerOptions, "accounts" | "random" | "log" | "options">,
  stores: Pick<DataStores, "store" | "content">,
): StateControls {
  const { accounts, random, log } = given;
  const { store } = stores;
  const onRestored = () => completeAccounts(store, given);
  const isConfigured = (name: string): boolean => accounts.isConfigured(name);
  const onLoaded = () => accounts.refresh();
  return {
    snapshots: new ServerSnapshots({ store, random, log, onRestored }),
    archives: new ServerArchives({ stores, random, log, isConfigured, onLoaded }),
    random,
    encryption: given.options.encryption,
  };
}

const bytesPerMegabyte = 1024 * 1024;

/** The options of `openDataStores`, from those of the server: bytes instead of megabytes. */
function dataStoreOptions(given: RunningServerOptions) {
  const { options, location, clock, random, log } = given;
  const { extentMemoryLimit } = options;
  const memoryBytesMax =
    extentMemoryLimit === undefined ? undefined : Math.floor(extentMemoryLimit * bytesPerMegabyte);
  const { store: storeUrl, content: contentUrl, encryption } = options;
  const places = { location, storeUrl, contentUrl, memoryBytesMax, encryption };
  const { scrubMegabytesPerSecond: rate } = options;
  const scrubBytesPerSecond = rate === undefined ? undefined : rate * bytesPerMegabyte;
  const openStorage = given.machine?.openStorage;
  const workerCount = given.worker?.workerCount;
  return { ...places, clock, random, log, scrubBytesPerSecond, openStorage, workerCount };
}

function isSmbServed({ noSmb, services: served }: Options): boolean {
  return !noSmb && served.includes("file");
}

type OpenListener = Pick<Listener, "stop" | "unref">;

/** Time for running requests to complete when the server stops. */
const graceMilliseconds = 10_000;
/** How long a connection without a request stays open after a signal: longer than the time between
 *  two requests of a client that sends one after another. */
const quietMilliseconds = 1000;
/** Time for idle connections of a replaced worker to end by themselves. */
const replacedMilliseconds = 30_000;

/** How long a stopping server waits for its connections, by the reason of the stop. */
export const stopPaces = {
  /** The program that runs the server stops it: its clients have finished. */
  program: { quietMilliseconds: 0, graceMilliseconds },
  signal: { quietMilliseconds, graceMilliseconds },
  /** Another process has bound the ports, and accepts new connections. */
  replaced: { quietMilliseconds: replacedMilliseconds, graceMilliseconds: replacedMilliseconds },
} as const;

class OpenListeners {
  readonly #all: OpenListener[] = [];

  add(listener: OpenListener): void {
    this.#all.push(listener);
  }

  async stop(pace: StopPace): Promise<void> {
    await Promise.all(this.#all.map((listener) => listener.stop(pace)));
  }

  /** Lets the process end although the listeners are open; tests use it. */
  unref(): void {
    for (const listener of this.#all) listener.unref();
  }
}

/** Closes, in the background, the SMB handles of processes that have ended without closing them.
 *  Runs even if this process does not serve SMB. */
function sweepHandlesInBackground(
  { clock, log, random }: Pick<ServerEnvironment, "clock" | "log" | "random">,
  { store, content, owners }: Pick<DataStores, "store" | "content" | "owners">,
): Background {
  const round = async () => {
    await closeOrphanedHandles({ store, content, random, clock }, owners);
    return false;
  };
  return runInBackground([{ name: "handles", round }], { clock, log });
}

/** Runs the copies of all services in the background. */
function runServiceTransfers(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { store, content, quotas }: DataStores,
  sources: { readonly endpoints: OwnEndpoints; readonly remote: SourceReader },
): Transfers {
  const handlers = new Map(services.flatMap(({ transfers = {} }) => Object.entries(transfers)));
  const read = transferSources(sources);
  return runTransfers({ store, content, quotas, handlers, read, clock, log });
}

export interface RunningServerOptions extends ServerEnvironment {
  readonly options: Options;
  readonly accounts: ServedAccounts;
  /** Undefined stores everything in memory. */
  readonly location: string | undefined;
}

/** A server with its stores, listeners and background tasks. `start.ts` opens it. */
export class RunningServer {
  readonly urls: Partial<Record<EndpointName, string>> = {};
  /** URL of the SMB endpoint; empty before the start and if SMB is not served. */
  smbUrl = "";
  readonly #given: RunningServerOptions;
  #certificate: ServedCertificate | undefined;
  readonly #stores: DataStores;
  readonly #metrics: Metrics;
  readonly #limits: RequestLimits;
  readonly observer: Observer;
  readonly faults: FaultInjector;
  readonly controls: StateControls;
  readonly subscriptions: SubscriptionManager;
  /** Creates the resources of `--init` that do not exist. */
  readonly init: (init: Options["init"]) => Promise<void>;
  readonly #identity: ServerIdentity;
  readonly #clients: SeenClients;
  readonly #endpoints = new OwnEndpoints();
  readonly #remote: SourceReader;
  readonly #httpServices: Partial<Record<ServiceName, HttpService>> = {};
  /** The calls of this process that wait until an SMB client gives up a caching grant. */
  readonly callWaits = () => this.#httpServices.file?.runtime.waits?.list() ?? [];
  /** The Data Lake API of the blob service. */
  #dfs: HttpService | undefined;
  #smb: SmbEndpoint | undefined;
  #admin: AdminListener | undefined;
  readonly listeners = new OpenListeners();
  #transfers: Transfers | undefined;
  #sweeping: Background | undefined;
  #delivery: EventDelivery | undefined;
  #state: "starting" | "ready" | "stopping" = "starting";
  #stopped: Promise<void> | undefined;

  private constructor(given: RunningServerOptions, stores: DataStores, metrics: Metrics) {
    this.#given = given;
    this.#stores = stores;
    this.#metrics = metrics;
    this.observer = { watch: undefined, audit: given.auditLog?.request };
    this.faults = new FaultInjector(given.clock);
    this.#clients = new SeenClients(given.clock, given.worker?.onRequest);
    this.controls = stateControls(given, stores);
    const servicesOf = (of: DataStores, accounts: Accounts) =>
      inProcessServices({ ...given, accounts }, of);
    this.init = async (init) => {
      // If there are several workers, only the main worker creates the resources.
      if (init === undefined || given.worker?.isMain === false) return;
      await applyInit({ ...given, servicesOf }, stores, init);
    };
    this.#limits = newRequestLimits(given.clock, given.worker?.workerCount);
    this.#identity = openIdentity(given);
    const sources = sourcePolicy(sourceRanges(given.options), this.#endpoints);
    this.#remote = remoteSources(sources, given.machine?.connect);
    const { store } = stores;
    const { loop } = this.#stores.content;
    const rules = this.#webhookRules();
    this.subscriptions = new SubscriptionManager({ ...given, store, rules, loop });
  }

  static async open(given: RunningServerOptions): Promise<RunningServer> {
    const certificate = await ServedCertificate.open(given);
    const metrics = newMetrics();
    const stores = await openDataStores({ ...dataStoreOptions(given), meter: metrics });
    const server = new RunningServer(given, stores, metrics);
    server.#certificate = certificate;
    try {
      await openAccountRecords(stores.store, given);
      await server.init(given.options.init);
      for (const service of services) {
        if (given.options.services.includes(service.name)) await server.#listen(service);
      }
      const { blob } = server.#httpServices;
      if (blob !== undefined) await server.#listenAt(blob, "dfs");
      if (given.worker?.isMain === false) await server.#awaitMainRole();
      else await server.listenAsMain();
      const sources = { endpoints: server.#endpoints, remote: server.#remote };
      server.#transfers = runServiceTransfers(given, stores, sources);
      // The other nodes close the handles of this one: the caches of its SMB clients may be
      // outdated from then on. Clients drop them when their connections end.
      stores.onCutOff(() => server.#smb?.disconnectAll());
      server.#sweeping = sweepHandlesInBackground(given, stores);
      server.#delivery = server.#runDelivery();
    } catch (error) {
      await server.stop();
      throw error;
    }
    given.telemetry?.exportFigures(() => server.sample());
    server.#state = "ready";
    return server;
  }

  get adminUrl(): string {
    return this.#admin?.url ?? "";
  }

  /** Address of the admin listener. Undefined if another worker serves it. */
  get adminAddress(): BoundAddress | undefined {
    return this.#admin?.address;
  }

  sample(): FigureSample {
    const auditLostLines = this.#given.auditLog?.lostLines();
    const lostSpans = this.#given.telemetry?.lostSpans();
    return { ...this.#metrics.sample(processFigures()), auditLostLines, lostSpans };
  }

  stop(pace: StopPace = stopPaces.program): Promise<void> {
    // A worker that was replaced stops slowly. If then the whole server stops, it must hurry: the
    // supervisor would kill it, with the spans and audit lines that it has not sent.
    if (this.#stopped !== undefined) void this.listeners.stop(pace);
    this.#stopped ??= this.#stop(pace);
    return this.#stopped;
  }

  reset(): Promise<void> {
    this.#given.log.info({}, "reset: deleting all data on request");
    const names = services.map(({ name }) => name);
    return resetAccounts(this.#stores.store, names, this.#given.random);
  }

  /** Reads the certificate and the settings of the accounts again. */
  async reloadSettings(): Promise<void> {
    await this.#certificate?.reload();
    await this.#given.auditLog?.reopen();
    await reloadAccounts(this.#stores.store, this.#given);
  }

  async reload(): Promise<void> {
    await this.reloadSettings();
    // The link that was printed at the start may have been used, or has no token because no login
    // was required then.
    this.#given.announce(`Etagere explorer: open ${this.explorerLink()}`);
  }

  async #stop(pace: StopPace): Promise<void> {
    this.#state = "stopping";
    await this.#admin?.close();
    announceServices(this.urls, "is closing...", this.#given.announce);
    await this.listeners.stop(pace);
    this.#identity.tokens.close();
    this.#certificate?.close();
    await Promise.all([this.#transfers?.stop(), this.#sweeping?.stop(), this.#delivery?.stop()]);
    await this.controls.snapshots.close();
    await this.#stores.close();
    const { accessLog, auditLog, telemetry } = this.#given;
    await Promise.all([accessLog?.close(), auditLog?.close(), telemetry?.close()]);
    announceServices(this.urls, "successfully closed", this.#given.announce);
  }

  #webhookRules(): WebhookRules {
    const { options, clock } = this.#given;
    const prefixes = webhookPrefixes(options);
    return { prefixes, ranges: sourceRanges(options), endpoints: this.#endpoints, clock };
  }

  #runDelivery(): EventDelivery {
    const { accounts, log, clock, random, options } = this.#given;
    const { store, content, quotas, isLeader } = this.#stores;
    const runtime = { store, content, quotas, clock, random, log };
    const baseOf = (service: "blob" | "file") => reachable(this.urls[service] ?? "");
    const sourceOf = (account: string) => ({
      account,
      blobUrl: `${baseOf("blob")}/${account}`,
      fileUrl: `${baseOf("file")}/${account}`,
    });
    const parts = { runtime, accounts, sourceOf };
    const delivery = runEventDelivery({ ...parts, log, isLeader, rules: this.#webhookRules() });
    const limits = eventLogLimits(options);
    const retention = new LogRetention({ ...parts, limits });
    const round = async () => (await isLeader()) && retention.round();
    const trimming = runInBackground([{ name: "event-log", round }], { clock, log });
    return {
      async stop() {
        await Promise.all([delivery.stop(), trimming.stop()]);
      },
    };
  }

  async #listen(service: Service): Promise<void> {
    const { name } = service;
    const world = {
      ...this.#given,
      stores: this.#stores,
      meter: this.#metrics,
      observer: this.observer,
      tokens: this.#identity.tokens,
      tracer: this.#given.telemetry?.tracer,
      ...this.#limits,
      endpoints: this.#endpoints,
      remote: this.#remote,
    };
    const httpService = httpServiceOf(service, world);
    this.#httpServices[name] = httpService;
    if (name === "blob") this.#dfs = httpServiceOf(dfsService, world);
    await this.#listenAt(httpService, name);
  }

  /** Opens the listener `name` of a service. Those of the blob service serve both of its APIs:
   *  clients that address a server by IP send both to one port. */
  async #listenAt(http: HttpService, name: EndpointName): Promise<void> {
    const certificate = this.#certificate;
    const dfs = this.#dfs;
    const { announce, options, accessLog } = this.#given;
    const service = http.service.name;
    const listening = serviceListener(options, service, name);
    const { host, port } = listening;
    const address = formatUrl(certificate !== undefined, host, port);
    announce(serviceLine(name, `is starting at ${address}`));
    const parts = { writeAccess: writeAccessOf(accessLog), faults: this.faults };
    const isBlob = dfs !== undefined && (name === "blob" || name === "dfs");
    const handler = isBlob
      ? handlerOf(http, parts, (request) => (isPathRequest(request, name) ? dfs : http))
      : handlerOf(http, parts);
    const listener = await this.#add({
      ...listening,
      certificate,
      handler,
      onRequest: this.#clients.onRequest,
      onPortReplaced: onPortReplaced(this.#given, `${name}Port`),
    });
    this.#endpoints.listens(service, listener.address);
    this.urls[name] = listener.url;
    announce(serviceLine(name, `is successfully listening at ${listener.url}`));
  }

  async #listenSmb(): Promise<void> {
    const { announce, worker } = this.#given;
    const socket = worker?.sockets.get(smbTitle);
    const ports = { onPortReplaced: onPortReplaced(this.#given, "smbPort"), socket };
    const stores = { stores: this.#stores, meter: this.#metrics, observer: this.observer };
    const { listenSmb } = await import("./smb-endpoint.ts");
    const listener = await listenSmb({ ...this.#given, ...ports, ...this.#limits, ...stores });
    this.listeners.add(listener);
    this.#smb = listener;
    this.smbUrl = listener.url;
    announce(`Etagere SMB endpoint is successfully listening at ${listener.url}`);
  }

  /** Prepares a worker that serves no SMB and no admin listener yet, but may become the main
   *  one. */
  async #awaitMainRole(): Promise<void> {
    const { options, worker } = this.#given;
    if (worker?.adminAddress !== undefined) this.#endpoints.listensForAdmin(worker.adminAddress);
    // Loaded early, because this worker may have to serve SMB within 200 ms.
    if (isSmbServed(options)) await import("./smb-endpoint.ts");
  }

  /** Serves SMB and the admin listener. Of several workers only the main worker does; if it ends,
   *  the supervisor calls this in another one, which already has the sockets. */
  async listenAsMain(): Promise<void> {
    this.#given.auditLog?.rotate();
    const { options, worker, machine } = this.#given;
    if (isSmbServed(options)) await this.#listenSmb();
    if (machine !== undefined) return;
    this.#admin = await listenAdmin({
      given: this.#given,
      memory: this.#limits.memory,
      stores: this.#stores,
      httpServices: this.#httpServices,
      dfs: this.#dfs,
      observer: this.observer,
      smb: this.#smb?.administration,
      local: this.#identity.local,
      sample: async () => (await worker?.sampleAll(this.sample())) ?? this.sample(),
      addresses: () => {
        const { adminUrl, smbUrl, urls } = this;
        return { adminUrl, smbUrl, urls, clients: this.#clients.list() };
      },
      ready: () => this.#checkReady(),
      reset: () => this.reset(),
      controls: this.controls,
      subscriptions: this.subscriptions,
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
    options: Omit<ListenerOptions, "clock" | "connections" | "socket">,
  ): Promise<Listener> {
    const { connections } = this.#limits;
    const { clock, worker, machine } = this.#given;
    const socket = worker?.sockets.get(options.title);
    const bind = machine?.bind;
    const listener = await listen({ ...options, clock, connections, socket, bind });
    this.listeners.add(listener);
    return listener;
  }

  async #checkReady(): Promise<void> {
    if (this.#state !== "ready") throw new Error(`server is ${this.#state}`);
    await this.#stores.check();
  }
}
