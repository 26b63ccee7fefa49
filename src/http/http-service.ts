import type { Accounts } from "../account/settings.ts";
import type { MemoryBudget } from "../base/memory-budget.ts";
import type { Meter } from "../protocol/meter.ts";
import type { Service } from "../operation/service.ts";
import type { VersionPolicy } from "../protocol/versions.ts";
import type { Clock, Log } from "../base/world.ts";
import type { Runtime } from "../operation/work.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import type { OAuthMode } from "./auth/request.ts";
import type { TokenVerifier } from "./auth/tokens/token-verifier.ts";
import type { Observer } from "./observer.ts";
import type { RequestIds } from "./render.ts";
import type { RequestTracer } from "./request-tracer.ts";
import type { RequestRates } from "./limits/request-rates.ts";
import type { ProcessingLimits } from "./limits/processing-limits.ts";
import type { Router } from "./request/routing.ts";
import type { Sources } from "./source/source-reader.ts";
import type { UnsentResponses } from "./limits/unsent-responses.ts";

/** What the HTTP listeners need to serve one service: its operations and everything that handles
 *  their requests. */
export interface HttpService {
  readonly service: Service;
  readonly router: Router;
  readonly runtime: Runtime;
  readonly accounts: Accounts;
  readonly authenticator: Authenticator;
  readonly requestIds: RequestIds;
  /** Verifies bearer tokens, unless `options.oauth` is `basic`. */
  readonly tokens?: TokenVerifier | undefined;
  /** Reads the sources of copies, on this server or elsewhere. */
  readonly sources: Sources;
  readonly clock: Clock;
  readonly log: Log;
  /** Receives the metrics of requests. */
  readonly meter: Meter;
  /** Receives completed requests, for the request feed; undefined: there is none. */
  readonly observer?: Observer;
  /** Records traces of requests; undefined: none. */
  readonly tracer?: RequestTracer | undefined;
  /** Limits the bytes of all request bodies in memory; undefined: no limit. */
  readonly memory?: MemoryBudget;
  /** Limits the memory of large responses; undefined: no limit. */
  readonly unsent?: UnsentResponses;
  readonly processing: ProcessingLimits;
  /** Limits the requests of accounts; undefined: no limit. */
  readonly rates?: RequestRates;
  readonly options: HttpServiceOptions;
}

export interface HttpServiceOptions {
  /** Decides which values of x-ms-version are accepted. */
  readonly versions: VersionPolicy;
  /** Whether the host may name the account: `account.blob.localhost`. Otherwise the first path
   *  segment does. */
  readonly productStyle: boolean;
  /** How bearer tokens are checked; undefined: they are rejected. */
  readonly oauth: OAuthMode | undefined;
}
