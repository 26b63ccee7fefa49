import { memoryUsage } from "node:process";
import type { Accounts } from "../account/settings.ts";
import type { ServiceName } from "../core/operation.ts";
import type { Service } from "../core/service.ts";
import { adminHandler } from "./admin.ts";
import { readCertificate } from "./certificate.ts";
import type { Certificate } from "./certificate.ts";
import { nextDataFolder, openDataFolder, removeOldDataFolders } from "./data-folder.ts";
import { openEngines } from "./engines.ts";
import type { Engines } from "./engines.ts";
import { Generation } from "./generation.ts";
import { formatUrl, listen } from "./listener.ts";
import type { Listener } from "./listener.ts";
import { newMetrics } from "./metrics.ts";
import type { Options } from "./options.ts";
import { contentTables, handlerOf, services, titleOf } from "./services.ts";
import type { Surroundings } from "./surroundings.ts";

export interface RunningServerOptions extends Surroundings {
  readonly options: Options;
  readonly accounts: Accounts;
  /** Undefined keeps everything in memory. */
  readonly location: string | undefined;
}

/** How long running requests may take to finish when a server stops or its data is reset. */
const graceMilliseconds = 10_000;
const bytesPerMegabyte = 1024 * 1024;
const loopback = "127.0.0.1";

/** Everything that lives between start and stop. */
export class RunningServer {
  readonly urls: Partial<Record<ServiceName, string>> = {};
  adminUrl = "";
  readonly #given: RunningServerOptions;
  readonly #metrics = newMetrics();
  readonly #listeners: Listener[] = [];
  #generation: Generation;
  /** Retired generations that are still closing. */
  readonly #retiring = new Set<Promise<void>>();
  #state: "starting" | "ready" | "stopping" = "starting";
  #resetting: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  private constructor(given: RunningServerOptions, engines: Engines) {
    this.#given = given;
    this.#generation = this.#newGeneration(engines);
  }

  static async open(given: RunningServerOptions): Promise<RunningServer> {
    const { location, options } = given;
    const certificate = await readCertificate(options);
    const folder = location === undefined ? undefined : await openDataFolder(location);
    const server = new RunningServer(given, await openEngines(engineOptions(given, folder)));
    try {
      for (const service of services) await server.#listen(service, certificate);
      await server.#listenAdmin();
    } catch (error) {
      await server.stop();
      throw error;
    }
    server.#state = "ready";
    if (location !== undefined) server.#clean(location);
    return server;
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  reset(): Promise<void> {
    // One after the other: each needs the folder the one before it made.
    const done = this.#resetting.then(() => this.#reset());
    this.#resetting = done.catch(() => {});
    return done;
  }

  async #stop(): Promise<void> {
    this.#state = "stopping";
    await Promise.all(this.#listeners.map((listener) => listener.stop(graceMilliseconds)));
    await this.#resetting;
    await Promise.all(this.#retiring);
    await this.#generation.retire(this.#given.clock, graceMilliseconds);
  }

  async #reset(): Promise<void> {
    if (this.#state !== "ready") throw new Error("the server is not running");
    const { clock, location, log } = this.#given;
    const folder = location === undefined ? undefined : await nextDataFolder(location);
    const engines = await openEngines(engineOptions(this.#given, folder));
    const old = this.#generation;
    this.#generation = this.#newGeneration(engines);
    log.info({}, "everything was deleted on request");
    const retiring = old
      .retire(clock, graceMilliseconds)
      .catch((error: unknown) => log.error({ err: error }, "the old data did not close cleanly"))
      .finally(() => this.#retiring.delete(retiring));
    this.#retiring.add(retiring);
    if (location !== undefined) void retiring.then(() => this.#clean(location));
  }

  #clean(location: string): void {
    removeOldDataFolders(location).catch((error: unknown) =>
      this.#given.log.warn({ err: error }, "what a reset left behind could not be removed"),
    );
  }

  #newGeneration(engines: Engines): Generation {
    const { clock, random, log, accounts, options } = this.#given;
    const world = { clock, random, log, accounts, options, engines, meter: this.#metrics };
    return new Generation(
      engines,
      new Map(services.map((service) => [service.name, handlerOf(service, world)])),
    );
  }

  async #listen(service: Service, certificate: Certificate | undefined): Promise<void> {
    const { options, announce, clock } = this.#given;
    const { name } = service;
    const title = titleOf(service);
    const host = options[`${name}Host`];
    const port = options[`${name}Port`];
    const url = formatUrl(certificate !== undefined, host, port);
    announce(`Azurite ${title} service is starting at ${url}`);
    const listener = await listen({
      title: `${title} service`,
      host,
      port,
      keepAliveSeconds: options[`${name}KeepAliveTimeout`],
      certificate,
      handler: (request, response) => this.#generation.handle(name, request, response),
      clock,
    });
    this.#listeners.push(listener);
    this.urls[name] = listener.url;
    announce(`Azurite ${title} service is successfully listening at ${listener.url}`);
  }

  async #listenAdmin(): Promise<void> {
    const { options, announce, clock, log } = this.#given;
    const handler = adminHandler({
      log,
      ready: () => this.#checkReady(),
      metrics: () => {
        const { rss, heapUsed } = memoryUsage();
        return this.#metrics.render({ residentBytes: rss, heapUsedBytes: heapUsed });
      },
      reset: options.enableReset ? () => this.reset() : undefined,
    });
    const listener = await listen({
      title: "Admin listener",
      host: loopback,
      port: options.adminPort,
      keepAliveSeconds: 5,
      certificate: undefined,
      handler,
      clock,
    });
    this.#listeners.push(listener);
    this.adminUrl = listener.url;
    announce(`Etagere admin is successfully listening at ${listener.url}`);
  }

  async #checkReady(): Promise<void> {
    if (this.#state !== "ready") throw new Error(`the server is ${this.#state}`);
    await this.#generation.engines.store.snapshot(async () => {});
  }
}

function engineOptions(given: RunningServerOptions, folder: string | undefined) {
  const { options, clock, log } = given;
  const { extentMemoryLimit } = options;
  const memoryBytesMax =
    extentMemoryLimit === undefined ? undefined : Math.floor(extentMemoryLimit * bytesPerMegabyte);
  return { folder, memoryBytesMax, contentTables, clock, log };
}
