import type { Accounts } from "../account/settings.ts";
import { dfsService } from "../blob/dfs/service.ts";
import { isPathRequest, blobService } from "../blob/service.ts";
import type { BlobPort } from "../blob/service.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import type { Meter } from "../protocol/meter.ts";
import type { Service } from "../operation/service.ts";
import type { Clock, Log, Random } from "../base/world.ts";
import { fileService } from "../file/service.ts";
import { queueService } from "../queue/service.ts";
import { tableService } from "../table/service.ts";
import { CallWaits } from "../operation/call-waits.ts";
import { ContentionQueues } from "../operation/contention-queues.ts";
import { RenderCache } from "../operation/render-cache.ts";
import { Authenticator } from "../http/auth/authenticator.ts";
import type { TokenVerifier } from "../http/auth/tokens/token-verifier.ts";
import type { WriteAccess } from "../http/access-log.ts";
import { nodeHandler } from "../http/handler.ts";
import type { Serve } from "../http/handler.ts";
import type { HttpService } from "../http/http-service.ts";
import type { Observer } from "../http/observer.ts";
import type { RequestRates } from "../http/request-rates.ts";
import { compileRoutes } from "../http/routing.ts";
import { handleRequest, meterOf, serveRequest } from "../http/pipeline.ts";
import type { WireRequest, WireResponse } from "../http/wire.ts";
import type { UnsentResponses } from "../http/unsent-responses.ts";
import type { OwnEndpoints } from "../http/source/own-endpoints.ts";
import { openSources } from "../http/source/source-readers.ts";
import type { SourceReader } from "../http/source/source-reader.ts";
import type { DataStores } from "./data-stores.ts";
import type { FaultInjector } from "./faults/fault-injector.ts";
import type { Handler } from "./listener.ts";
import { meteredContent } from "./metered-content.ts";
import type { VersionPolicy } from "../protocol/versions.ts";
import { oauthOf } from "./options.ts";
import type { Options } from "./options.ts";

/** All services; each has a listener, a start-up line and an entry in the URLs. */
export const services: readonly Service[] = [blobService, queueService, tableService, fileService];

/** Dependencies of a service. */
export interface ServiceEnvironment {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly meter: Meter;
  readonly observer: Observer;
  readonly memory: MemoryBudget;
  readonly unsent: UnsentResponses;
  readonly rates: RequestRates;
  readonly accounts: Accounts;
  readonly tokens: TokenVerifier | undefined;
  readonly engines: DataStores;
  readonly options: Options;
  readonly endpoints: OwnEndpoints;
  /** Fetches copy sources over the network. */
  readonly remote: SourceReader;
}

/** What handlers of requests share. */
export interface HandlerParts {
  readonly writeAccess: WriteAccess;
  readonly faults: FaultInjector;
}

export function handlerOf(
  httpService: HttpService,
  { writeAccess, faults }: HandlerParts,
): Handler {
  const { clock, log, memory, unsent } = httpService;
  const options = { writeAccess, memory, unsent, clock, meter: meterOf(httpService) };
  const serve: Serve = (request) => handleRequest(httpService, request);
  return nodeHandler((request) => faults.serve(httpService, request, serve), log, options);
}

/** The Blob API and the Data Lake API to the same blobs. */
export interface BlobApis {
  readonly blob: HttpService;
  readonly dfs: HttpService;
}

export function blobApisOf(blob: HttpService, world: ServiceEnvironment): BlobApis {
  return { blob, dfs: httpServiceOf(dfsService, world) };
}

/** Serves both APIs: clients that address a server by IP send both to one port. */
export function blobHandlerOf(
  { blob, dfs }: BlobApis,
  port: BlobPort,
  { writeAccess, faults }: HandlerParts,
): Handler {
  const { clock, log, memory, unsent } = blob;
  const options = { writeAccess, memory, unsent, clock, meter: meterOf(blob) };
  const serveBlob: Serve = (request) => handleRequest(blob, request);
  const serveDfs: Serve = (request) => handleRequest(dfs, request);
  const serve = (request: WireRequest): Promise<WireResponse> =>
    isPathRequest(request, port)
      ? faults.serve(dfs, request, serveDfs)
      : faults.serve(blob, request, serveBlob);
  return nodeHandler(serve, log, options);
}

/** Combines a service with what the HTTP pipeline needs to serve it. */
export function httpServiceOf(service: Service, world: ServiceEnvironment): HttpService {
  const { clock, random, log, meter, observer, memory, accounts, engines, options } = world;
  const { endpoints, remote } = world;
  const httpService: HttpService = {
    service,
    router: compileRoutes(service.operations),
    runtime: {
      store: engines.store,
      content: meteredContent(engines.content, meter),
      random,
      clock,
      log,
      renderings: new RenderCache(),
      contentionQueues: new ContentionQueues(clock),
      waits: new CallWaits(),
      quotas: engines.quotas,
    },
    accounts,
    authenticator: new Authenticator(),
    tokens: world.tokens,
    sources: openSources({ service: service.name, endpoints, remote }),
    clock,
    log,
    meter,
    observer,
    memory,
    unsent: world.unsent,
    rates: world.rates,
    options: {
      versions: versionsOf(options),
      productStyle: !options.disableProductStyleUrl,
      oauth: oauthOf(options),
    },
  };
  if (service.api === undefined) {
    endpoints.serves(service.name, (request) => serveRequest(httpService, request));
  }
  return httpService;
}

function versionsOf({ skipApiVersionCheck, strictApiVersion }: Options): VersionPolicy {
  if (skipApiVersionCheck) return "any";
  return strictApiVersion ? "known" : "later";
}
