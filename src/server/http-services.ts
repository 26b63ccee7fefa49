import type { Accounts } from "../account/settings.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import type { Meter } from "../protocol/meter.ts";
import type { Service } from "../operation/service.ts";
import type { Clock, World } from "../base/world.ts";
import { ContentionQueues } from "../operation/contention-queues.ts";
import { RenderCache } from "../operation/render-cache.ts";
import { Waits } from "../operation/work.ts";
import { Authenticator } from "../http/auth/authenticator.ts";
import type { TokenVerifier } from "../http/auth/tokens/token-verifier.ts";
import type { WriteAccess, HttpService, Observer, RequestTracer } from "../http/http-service.ts";
import { nodeHandler } from "../http/handler.ts";
import {
  RequestRates,
  type ProcessingLimits,
  type UnsentResponses,
} from "../http/limits/processing-limits.ts";
import { compileRoutes } from "../http/request/routing.ts";
import { RequestIds } from "../http/render.ts";
import { handleRequest, meterOf, serveRequest } from "../http/pipeline.ts";
import type { WireRequest, WireResponse } from "../http/wire.ts";
import { OwnEndpoints } from "../http/source/own-endpoints.ts";
import { openSources } from "../http/source/open-sources.ts";
import type { SourceReader } from "../http/source/source-reader.ts";
import type { DataStores } from "../data/data-stores.ts";
import type { FaultInjector } from "../controls/fault-injector.ts";
import type { Handler } from "./listener.ts";
import type { VersionPolicy } from "../protocol/versions.ts";
import { meteredContent } from "./metered-content.ts";
import { newMetrics } from "./metrics.ts";
import { newRequestLimits } from "./request-limits.ts";
import { services } from "../data/services.ts";
import { keyPrincipal } from "../protocol/principal.ts";
import { ok } from "../protocol/result.ts";
import type { ServiceName } from "../protocol/names.ts";
import { remoteSources } from "../http/source/remote-source.ts";
import { sourcePolicy } from "../http/source/source-policy.ts";
import { oauthOf, sourceRanges, type Options } from "./options.ts";
import type { IncomingMessage } from "node:http";
import { formatIso } from "../base/dates.ts";
import type { Ticks } from "../base/ticks.ts";

/** Combines the storage services with accounts, stores and limits, so that the HTTP pipeline can
 *  serve them: behind the listeners of a running server, and for `--init` without listeners. */

/** What all services of a process share: accounts, stores and limits. */
interface ServiceEnvironment extends World {
  readonly meter: Meter;
  readonly observer: Observer;
  readonly tracer?: RequestTracer | undefined;
  readonly memory: MemoryBudget;
  readonly unsent: UnsentResponses;
  readonly rates: RequestRates;
  readonly processing: ProcessingLimits;
  readonly accounts: Accounts;
  readonly tokens: TokenVerifier | undefined;
  readonly stores: DataStores;
  readonly options: Options;
  readonly endpoints: OwnEndpoints;
  /** Fetches copy sources over the network. */
  readonly remote: SourceReader;
}

interface HandlerParts {
  readonly writeAccess: WriteAccess;
  readonly faults: FaultInjector;
}

/** Returns the handler of a listener: it serves the API that `select` chooses for a request, with
 *  the faults that tests have injected. */
export function handlerOf(
  http: HttpService,
  { writeAccess, faults }: HandlerParts,
  select: (request: WireRequest) => HttpService = () => http,
): Handler {
  const { clock, log, memory, unsent } = http;
  const options = { writeAccess, memory, unsent, clock, meter: meterOf(http) };
  const serve = (request: WireRequest): Promise<WireResponse> => {
    const api = select(request);
    return faults.serve(api, request, (passed) => handleRequest(api, passed));
  };
  return nodeHandler(serve, log, options);
}

/** Makes the `HttpService` of a storage service. Copies from this server read their source from it
 *  directly, not over the network (`endpoints`). */
export function httpServiceOf(service: Service, world: ServiceEnvironment): HttpService {
  const { clock, random, log, meter, observer, memory, accounts, stores, options } = world;
  const { endpoints, remote } = world;
  const httpService: HttpService = {
    service,
    router: compileRoutes(service.operations),
    runtime: {
      store: stores.store,
      content: meteredContent(stores.content, meter),
      random,
      clock,
      log,
      renderings: new RenderCache(),
      contentionQueues: new ContentionQueues(clock),
      waits: new Waits(),
      quotas: stores.quotas,
    },
    accounts,
    authenticator: new Authenticator(),
    requestIds: new RequestIds(random),
    tokens: world.tokens,
    sources: openSources({ service: service.name, endpoints, remote }),
    clock,
    log,
    meter,
    observer,
    tracer: world.tracer,
    memory,
    unsent: world.unsent,
    rates: world.rates,
    processing: world.processing,
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

/** Limits of the request rate of an account that admit every request: those that `--init` sends to
 *  the services of this process do not count. */
class UnlimitedRates extends RequestRates {
  override admits(): boolean {
    return true;
  }
}

/** For `--init`: gives its requests all rights of an account key, without a signature. */
const trusting = { authenticate: () => ok(keyPrincipal) } as unknown as Authenticator;

type InProcessParts = Pick<ServiceEnvironment, "clock" | "random" | "log" | "accounts" | "options">;

/** The services as they run behind the listeners, but without listeners: for `--init`, which
 *  creates resources through them before the server listens. */
export function inProcessServices(
  given: InProcessParts,
  stores: DataStores,
): ReadonlyMap<ServiceName, HttpService> {
  const endpoints = new OwnEndpoints();
  const world = {
    ...given,
    stores,
    meter: newMetrics(),
    observer: { watch: undefined },
    ...newRequestLimits(given.clock),
    rates: new UnlimitedRates(given.clock),
    endpoints,
    remote: remoteSources(sourcePolicy(sourceRanges(given.options), endpoints)),
  };
  const opened = new Map<ServiceName, HttpService>();
  for (const service of services) {
    const httpService = httpServiceOf(service, { ...world, tokens: undefined });
    opened.set(service.name, { ...httpService, authenticator: trusting });
  }
  return opened;
}

/** A client program that has sent requests to this process. */
interface SeenClient {
  /** The `User-Agent` header of the client. */
  readonly agent: string;
  /** The `x-ms-version` that it sent; undefined if it sent none. */
  readonly version: string | undefined;
  readonly seenAt: string;
}

const clientsMax = 50;
const agentUnitsMax = 200;

/** The client programs of the latest connections, for `etagere doctor`. Only the first request of a
 *  connection counts, because all requests of a connection come from one program. */
export class SeenClients {
  readonly #clock: Clock;
  readonly #next: Handler | undefined;
  readonly #known = new WeakSet<object>();
  /** Ordered by last use. */
  readonly #clients = new Map<string, { readonly client: SeenClient; readonly at: Ticks }>();

  /** `next` is called after each request was noted. */
  constructor(clock: Clock, next: Handler | undefined) {
    this.#clock = clock;
    this.#next = next;
  }

  readonly onRequest: Handler = (request, response) => {
    if (!this.#known.has(request.socket)) this.#note(request);
    this.#next?.(request, response);
  };

  #note({ socket, headers }: IncomingMessage): void {
    this.#known.add(socket);
    const agent = (headers["user-agent"] ?? "unknown").slice(0, agentUnitsMax);
    const given = headers["x-ms-version"];
    const version = typeof given === "string" ? given.slice(0, agentUnitsMax) : undefined;
    const name = `${agent} ${version ?? ""}`;
    const at = this.#clock.wall();
    this.#clients.delete(name);
    this.#clients.set(name, { client: { agent, version, seenAt: formatIso(at) }, at });
    const [oldest] = this.#clients.keys();
    if (this.#clients.size > clientsMax && oldest !== undefined) this.#clients.delete(oldest);
  }

  /** The programs, the latest first. */
  list(): readonly SeenClient[] {
    return [...this.#clients.values()].map(({ client }) => client).toReversed();
  }
}
