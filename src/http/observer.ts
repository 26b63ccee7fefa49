import type { Result } from "../protocol/result.ts";
import type { Call, Outcome } from "../operation/execute.ts";
import type { TransactionRefused } from "../operation/transaction-refused.ts";
import type { HttpService, RequestState } from "./http-service.ts";
import type { WireResponse, WireRequest } from "./wire.ts";

/** Where somebody who wants to see every request puts a function; nobody else pays for it. */
export interface Observer {
  watch: ((observed: ObservedRequest) => void) | undefined;
}

/** A request that was answered. Only good for as long as the call lasts: it holds the body. */
export interface ObservedRequest {
  readonly door: HttpService;
  readonly request: WireRequest;
  readonly progress: RequestState;
  readonly result: Result<Outcome>;
  readonly reply: WireResponse;
}

/** What became of the operations that one request brought together. */
export interface TransactionParts {
  readonly requests: readonly { readonly request: WireRequest }[];
  readonly calls: readonly Call[];
  readonly outcomes: readonly Outcome[] | TransactionRefused;
}
