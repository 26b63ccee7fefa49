import type { AccountSettings } from "../../account/settings.ts";
import type { Conditions } from "../../protocol/conditions.ts";
import type { Principal } from "../../protocol/principal.ts";
import type { Failure, Result } from "../../protocol/result.ts";
import type { Call, Outcome, TransactionRejected } from "../../operation/execute.ts";
import type { Address, Operation } from "../../operation/operation.ts";
import type { TokenVerdict } from "../auth/tokens/token-verifier.ts";
import type { Location } from "./target.ts";
import type { WireRequest } from "../wire.ts";

/** Contexts of the request pipeline (`http/pipeline.ts`). Each step takes one and returns the next,
 *  which has the same fields and more. None is changed after it was created, so that a response can
 *  be rendered from the last context that a rejected request reached. */

/** The first context: a request with the id under which its response and the log refer to it. */
export interface ReceivedRequest {
  readonly request: WireRequest;
  readonly requestId: string;
}

/** After `locateRequest`: account, path and version are known. */
export interface LocatedRequest extends ReceivedRequest {
  readonly location: Location;
  /** The x-ms-version under which the request runs. */
  readonly version: string;
}

/** After `identifyTarget`: the addressed resource is known. */
export interface AddressedRequest extends LocatedRequest {
  /** The resource of the service that the path names. */
  readonly address: Address;
  /** The result of verifying the bearer token; undefined if there is none or it is not verified. */
  readonly token?: TokenVerdict | undefined;
}

/** After `authenticate`: the caller and the settings of the account are known. */
export interface AuthenticatedRequest extends AddressedRequest {
  readonly principal: Principal;
  readonly settings: AccountSettings;
}

/** After `selectOperation`. */
export interface SelectedRequest extends AuthenticatedRequest {
  readonly operation: Operation;
}

/** The context after the parameters are parsed. `selected` is nested: copying its fields would take
 *  time in each request. */
export interface ParsedRequest {
  readonly selected: SelectedRequest;
  /** The request, with a body from which the checksums of `x-ms-structured-body` are removed. */
  readonly request: WireRequest;
  readonly input: object;
  readonly conditions: Conditions;
  readonly leaseId: string | undefined;
}

/** Any of the contexts above; fields of steps that were not reached are undefined. */
export interface RequestContext extends ReceivedRequest {
  readonly location?: Location;
  readonly version?: string;
  readonly address?: Address;
  readonly principal?: Principal;
  readonly operation?: Operation;
}

/** The end of a request: its outcome or fault, and the context to render it from. */
export interface CompletedRequest {
  /** The context of the last stage that the request reached. */
  readonly context: RequestContext;
  /** The parsed call. Undefined for a transaction, and for a request that was rejected before its
   *  parameters were parsed. */
  readonly call?: Call | undefined;
  readonly result: Result<Outcome>;
  /** The parts of a transaction, if the request feed has a subscriber or requests are traced. */
  readonly parts?: TransactionParts | undefined;
}

/** Completes a request with a fault. `context` is the last one that it reached. */
export function rejected(context: RequestContext, { fault }: Failure): CompletedRequest {
  return { context, result: { ok: false, fault } };
}

/** The operations of one table transaction and their outcomes, in request order. */
export interface TransactionParts {
  readonly contexts: readonly RequestContext[];
  readonly calls: readonly Call[];
  readonly outcomes: readonly Outcome[] | TransactionRejected;
}
