import type { Conditions } from "../protocol/conditions.ts";
import type { Fault } from "../protocol/faults.ts";
import type { Address, Operation } from "./operation.ts";
import type { ParamReader } from "../protocol/params.ts";
import type { Result } from "../protocol/result.ts";
import type { Ticks } from "../base/ticks.ts";

/** Wire forms of a service or API that differ from those of the others. */
export interface Dialect {
  /** The method, or the one in X-HTTP-Method for clients whose proxies allow only POST. */
  readonly method: (method: string, rawHeaders: readonly string[]) => Result<string>;
  /** Parses `If-Match` under the `match` policy; undefined if no operation has it. */
  readonly readMatch?: (reader: ParamReader) => Result<Conditions>;
  readonly etagHeaders: (newETag: Ticks) => Readonly<Record<string, string>>;
  readonly renderFault: (fault: Fault, asked: RequestInfo) => RenderedFault;
  /** Only if operations have a `transaction` body. */
  readonly transaction?: TransactionDialect;
  /** The fault that clients get in place of one of another service's. */
  readonly translate?: (fault: Fault) => Fault;
}

export type DialectWithTransactions = Dialect & Required<Pick<Dialect, "transaction">>;

/** The request of a fault, as far as it was parsed. */
export interface RequestInfo {
  readonly header: (name: string) => string | undefined;
  /** Path and query as sent. */
  readonly target: string;
  readonly version: string | undefined;
  readonly operation: Operation | undefined;
  readonly requestId: string;
  readonly wallNow: Ticks;
}

export interface RenderedFault {
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string;
  readonly text: string;
  /** Rejected before the service was reached: recorded without version and client request id. */
  readonly bare: boolean;
}

/** Several writes in one request, all or nothing. */
export interface TransactionDialect {
  readonly operationsMax: number;
  /** Checks what the parts must have in common. Gets at most `operationsMax` parts; `count` is the
   *  number sent. */
  readonly check: (parts: readonly TransactionPart[], count: number) => IndexedFault | undefined;
  /** The response to the whole transaction if one part fails. */
  readonly fault: (failure: IndexedFault, count: number) => Fault;
  /** Passes the headers of a part's response to `name`, in the service's order. */
  readonly partHeaders: (answer: PartResponse, name: AddHeader) => void;
}

export interface TransactionPart {
  readonly operation: Operation;
  readonly address: Address;
}

export interface IndexedFault {
  readonly index: number;
  readonly fault: Fault;
}

export type AddHeader = (name: string, value: string) => void;

export interface PartResponse {
  readonly method: string;
  readonly status: number;
  header(name: string): string | undefined;
}
