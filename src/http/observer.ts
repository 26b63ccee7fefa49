import type { Result } from "../core/result.ts";
import type { Call, Outcome } from "../execution/execute.ts";
import type { TransactionRefused } from "../execution/transaction-refused.ts";
import type { Door, Progress } from "./door.ts";
import type { WireReply, WireRequest } from "./wire.ts";

/** Where somebody who wants to see every request puts a function; nobody else pays for it. */
export interface Observer {
  watch: ((observed: Observed) => void) | undefined;
}

/** A request that was answered. Only good for as long as the call lasts: it holds the body. */
export interface Observed {
  readonly door: Door;
  readonly request: WireRequest;
  readonly progress: Progress;
  readonly result: Result<Outcome>;
  readonly reply: WireReply;
}

/** What became of the operations that one request brought together. */
export interface PartsDone {
  readonly requests: readonly { readonly request: WireRequest }[];
  readonly calls: readonly Call[];
  readonly outcomes: readonly Outcome[] | TransactionRefused;
}
