import type { Conditions } from "../protocol/conditions.ts";
import type { Fault } from "../protocol/faults.ts";
import type { Address, Operation } from "./operation.ts";
import type { ParamReader } from "../protocol/params.ts";
import type { Result } from "../protocol/result.ts";
import type { Ticks } from "../base/ticks.ts";

/** The ways in which the HTTP form of a service or API may differ: what a service declares as its
 *  dialect, and the types of table transactions. */

/** How one service or API differs from all other services in HTTP: method override, ETag headers,
 *  format of faults, transactions. Table and Data Lake declare a dialect; `http/` interprets it. */
export interface Dialect {
  /** Returns the method that selects the operation: that of the request, or of X-HTTP-Method for
   *  clients whose proxies allow only POST. */
  readonly method: (method: string, rawHeaders: readonly string[]) => Result<string>;
  /** Parses `If-Match` for operations with the conditions policy `match`; undefined if none has
   *  it. */
  readonly readMatch?: (reader: ParamReader) => Result<Conditions>;
  /** Returns the headers for the ETag of a reply; those of tables have no Last-Modified. */
  readonly etagHeaders: (newETag: Ticks) => Readonly<Record<string, string>>;
  readonly renderFault: (fault: Fault, request: RequestInfo) => RenderedFault;
  /** Whether a request without credentials is rejected before its path is checked: recorded from
   *  Azure for tables, where it gets 404 instead of the fault of an invalid name. */
  readonly rejectsAnonymousFirst?: true;
  /** Undefined if no operation has a `transaction` body. */
  readonly transaction?: TransactionDialect;
  /** Replaces the fault of an operation that was declared for another API to the same records;
   *  undefined if there is none. */
  readonly translate?: (fault: Fault) => Fault;
}

export type DialectWithTransactions = Dialect & Required<Pick<Dialect, "transaction">>;

/** The known properties of the request whose fault is rendered. */
export interface RequestInfo {
  readonly header: (name: string) => string | undefined;
  /** The path and query of the URL, as the client sent them. */
  readonly target: string;
  /** Undefined if the fault occurred before the version was parsed. */
  readonly version: string | undefined;
  readonly operation: Operation | undefined;
  readonly requestId: string;
  readonly wallNow: Ticks;
}

/** A fault in the format of the dialect. */
export interface RenderedFault {
  readonly headers: Readonly<Record<string, string>>;
  readonly type: string;
  readonly text: string;
  /** The reason phrase of the status line; undefined for the one of HTTP. */
  readonly reason?: string;
  /** Whether the response has neither x-ms-version nor x-ms-client-request-id. Recorded from Azure
   *  for faults that the gateway before the service reports. */
  readonly bare: boolean;
}

/** How a service combines several writes in one request, of which all take effect or none does: the
 *  change sets of the Table service. */
export interface TransactionDialect {
  /** Limit of the service for the operations of one transaction. */
  readonly operationsMax: number;
  /** Checks what the parts must have in common, for example the partition. Gets at most
   *  `operationsMax` parts; `count` is the number that was sent. */
  readonly check: (parts: readonly TransactionPart[], count: number) => IndexedFault | undefined;
  /** The fault of the whole transaction if one part fails. */
  readonly fault: (failure: IndexedFault, count: number) => Fault;
  /** Passes the headers of a part's response to `add`, in the service's order. */
  readonly partHeaders: (response: PartResponse, add: AddHeader) => void;
}

export interface TransactionPart {
  readonly operation: Operation;
  readonly address: Address;
}

/** The fault of one part; `index` counts parts from 0. */
export interface IndexedFault {
  readonly index: number;
  readonly fault: Fault;
}

export type AddHeader = (name: string, value: string) => void;

/** What the headers of a part's response depend on. */
export interface PartResponse {
  readonly method: string;
  readonly status: number;
  header(name: string): string | undefined;
}
