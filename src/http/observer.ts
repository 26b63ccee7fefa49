import type { HttpService } from "./http-service.ts";
import type { CompletedRequest } from "./request-context.ts";
import type { WireResponse } from "./wire.ts";

/** The subscriber to completed requests: the event feed sets `watch` while it has a client. */
export interface Observer {
  watch: ((observed: ObservedRequest) => void) | undefined;
}

/** Valid only during the call of `watch`: it refers to the request's body. */
export interface ObservedRequest extends CompletedRequest {
  readonly http: HttpService;
  readonly reply: WireResponse;
}
