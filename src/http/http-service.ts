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
import type { RequestIds } from "./render.ts";
import type {
  RequestRates,
  ProcessingLimits,
  UnsentResponses,
} from "./limits/processing-limits.ts";
import type { Router } from "./request/routing.ts";
import type { Sources } from "./source/source-reader.ts";
import type { ReportFileChange } from "../file/file-change.ts";
import type { CompletedRequest } from "./request/request-context.ts";
import type { WireResponse, WireRequest } from "./wire.ts";
import type { Span } from "../base/span.ts";
import { tracedRuntime } from "../operation/traced-runtime.ts";

/** What the HTTP side of one service consists of. The server builds an `HttpService` per service
 *  (`server/http-services.ts`); each step of the pipeline takes what it needs from it. */

/** What listeners need to serve one service: its operations, and all that handles requests. */
export interface HttpService {
  readonly service: Service;
  readonly router: Router;
  readonly runtime: Runtime;
  readonly accounts: Accounts;
  readonly authenticator: Authenticator;
  readonly requestIds: RequestIds;
  /** Verifies bearer tokens; not used with `--oauth basic`, which checks only claims. */
  readonly tokens?: TokenVerifier | undefined;
  /** Reads the sources of copies, on this server or elsewhere. */
  readonly sources: Sources;
  readonly clock: Clock;
  readonly log: Log;
  readonly meter: Meter;
  /** Receives completed requests, for the request feed; undefined: there is none. */
  readonly observer?: Observer;
  /** Records traces of requests. Undefined if the server records none. */
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

/** A request and its response, as a line of the access log describes them. */
export interface AccessLogEntry {
  readonly remoteAddress: string;
  readonly method: string;
  readonly url: string;
  readonly httpVersion: string;
  readonly status: number;
  readonly contentLength: string | undefined;
}

/** Writes one line of the access log per response. Undefined if there is no access log. */
export type WriteAccess = ((entry: AccessLogEntry) => void) | undefined;

/** Where the pipeline reports completed requests. The request feed sets `watch` while it has
 *  subscribers; otherwise reporting costs nothing. */
export interface Observer {
  watch: ((observed: ObservedRequest) => void) | undefined;
  /** Receives the changes of files over SMB. */
  watchFiles?: ReportFileChange | undefined;
  /** Writes an entry to the audit log. Undefined if the server has no audit log. */
  readonly audit?: ((observed: ObservedRequest) => void) | undefined;
}

/** A completed request. Valid only during the call of `watch`, because it refers to the request's
 *  body. */
export interface ObservedRequest extends CompletedRequest {
  readonly http: HttpService;
  readonly reply: WireResponse;
}

/** Records requests as spans (timed parts of traces); `server/telemetry` implements it. */
export interface RequestTracer {
  /** Begins the span of a request; undefined if the request is not sampled. */
  begin(request: WireRequest): Span | undefined;
  /** Called for each request when its response is known. `span` ends when it is sent. */
  complete(span: Span | undefined, observed: ObservedRequest): void;
  /** Ends the span of a request whose client has disconnected while it sent the body. */
  abort(span: Span, request: WireRequest, error: Error): void;
}

/** The service for one traced request: what it runs is recorded as parts of the request's span. */
export function tracedService(http: HttpService, span: Span): HttpService {
  return { ...http, runtime: tracedRuntime(http.runtime, span) };
}
