import type { Span } from "../base/span.ts";
import { tracedRuntime } from "../operation/traced-runtime.ts";
import type { HttpService } from "./http-service.ts";
import type { ObservedRequest } from "./observer.ts";
import type { WireRequest } from "./wire.ts";

/** Records requests for traces. */
export interface RequestTracer {
  /** Begins the span of a request; undefined if the request is not sampled. */
  begin(request: WireRequest): Span | undefined;
  /** Called for each request when its response is known. `span` ends when it is sent. */
  complete(span: Span | undefined, observed: ObservedRequest): void;
}

/** The service for one traced request. */
export function tracedService(http: HttpService, span: Span): HttpService {
  const { tracer } = http;
  return {
    ...http,
    runtime: tracedRuntime(http.runtime, span),
    // Requests that it consists of are parts of it.
    tracer: {
      begin: ({ method }) => span.begin(method),
      complete: (part, observed) => tracer?.complete(part, observed),
    },
  };
}
