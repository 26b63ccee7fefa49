import type { Conditions } from "../protocol/conditions.ts";
import type { Fault } from "../protocol/faults.ts";
import type { Address, Operation } from "./operation.ts";
import type { ParamReader } from "../protocol/params.ts";
import type { Result } from "../protocol/result.ts";
import type { Ticks } from "../base/ticks.ts";

/** How a service writes and reads what the others have in common: the doors ask it, if it is there,
 *  and know nothing of the forms themselves. */
export interface Dialect {
  /** The method that counts, for clients whose proxies let only POST through. */
  readonly method: (method: string, rawHeaders: readonly string[]) => Result<string>;
  /** What `If-Match` asks for, under the `match` policy. */
  readonly readMatch: (reader: ParamReader) => Result<Conditions>;
  readonly etagHeaders: (newETag: Ticks) => Readonly<Record<string, string>>;
  readonly renderFault: (fault: Fault, asked: RequestInfo) => RenderedFault;
  readonly transaction: TransactionDialect;
}

/** What is known of a request that failed. */
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
  /** Refused before the service looked at it: seen to answer without version and client's id. */
  readonly bare: boolean;
}

/** Several writes in one request, all or nothing. */
export interface TransactionDialect {
  readonly operationsMax: number;
  /** What the parts must have in common, beyond what each says of itself. Of more parts than there
   *  may be it gets only the first; `count` is how many came. */
  readonly check: (parts: readonly TransactionPart[], count: number) => IndexedFault | undefined;
  /** The failing part's fault as the one answer for all. */
  readonly fault: (failure: IndexedFault, count: number) => Fault;
  /** Names the headers of an answer inside the body, in the service's own order. */
  readonly partHeaders: (answer: PartAnswer, name: NameHeader) => void;
}

export interface TransactionPart {
  readonly operation: Operation;
  readonly address: Address;
}

export interface IndexedFault {
  readonly index: number;
  readonly fault: Fault;
}

export type NameHeader = (name: string, value: string) => void;

export interface PartAnswer {
  readonly method: string;
  readonly status: number;
  header(name: string): string | undefined;
}
