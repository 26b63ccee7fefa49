import type { Accounts } from "../account/settings.ts";
import { blobService } from "../blob/service.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import type { Meter } from "../protocol/meter.ts";
import type { Service } from "../operation/service.ts";
import type { Clock, Log, Random } from "../base/world.ts";
import { fileService } from "../file/service.ts";
import { queueService } from "../queue/service.ts";
import { tableService } from "../table/service.ts";
import { ContentionQueues } from "../operation/contention-queues.ts";
import { RenderCache } from "../operation/render-cache.ts";
import { Authenticator } from "../http/auth/authenticator.ts";
import type { WriteAccess } from "../http/access-log.ts";
import { nodeHandler } from "../http/handler.ts";
import type { HttpService } from "../http/http-service.ts";
import type { Observer } from "../http/observer.ts";
import { compileRoutes } from "../http/routing.ts";
import { handleRequest, meterOf, serveRequest } from "../http/pipeline.ts";
import type { OwnEndpoints } from "../http/source/own-endpoints.ts";
import { openSources } from "../http/source/own-source.ts";
import type { SourceReader } from "../http/source/source-reader.ts";
import type { DataStores } from "./data-stores.ts";
import type { Handler } from "./listener.ts";
import { meteredContent } from "./metered-content.ts";
import type { VersionPolicy } from "../protocol/versions.ts";
import type { Options } from "./options.ts";

/** The services that exist: each gets its listener, its line and its place in the URLs. */
export const services: readonly Service[] = [blobService, queueService, tableService, fileService];

/** Everything a service needs of its surroundings. */
export interface World {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly meter: Meter;
  readonly observer: Observer;
  readonly memory: MemoryBudget;
  readonly accounts: Accounts;
  readonly engines: DataStores;
  readonly options: Options;
  readonly endpoints: OwnEndpoints;
  /** Reads sources over the network. */
  readonly remote: SourceReader;
}

/** As people call it: "Blob". */
export function titleOf({ name }: Service): string {
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

export function handlerOf(door: HttpService, writeAccess: WriteAccess): Handler {
  const { clock, log, memory } = door;
  const options = { writeAccess, memory, clock, meter: meterOf(door) };
  return nodeHandler((request) => handleRequest(door, request), log, options);
}

export function httpServiceOf(service: Service, world: World): HttpService {
  const { clock, random, log, meter, observer, memory, accounts, engines, options } = world;
  const { endpoints, remote } = world;
  const door: HttpService = {
    service,
    router: compileRoutes(service.operations),
    runtime: {
      store: engines.store,
      content: meteredContent(engines.content, meter),
      random,
      clock,
      log,
      renderings: new RenderCache(),
      contests: new ContentionQueues(clock),
    },
    accounts,
    authenticator: new Authenticator(),
    sources: openSources({ service: service.name, endpoints, elsewhere: remote }),
    clock,
    log,
    meter,
    observer,
    memory,
    options: {
      versions: versionsOf(options),
      productStyle: !options.disableProductStyleUrl,
      oauth: options.oauth === undefined ? undefined : ("basic" as const),
    },
  };
  endpoints.serves(service.name, (request) => serveRequest(door, request));
  return door;
}

function versionsOf({ skipApiVersionCheck, strictApiVersion }: Options): VersionPolicy {
  if (skipApiVersionCheck) return "any";
  return strictApiVersion ? "known" : "later";
}
