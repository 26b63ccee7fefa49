import type { Ticks } from "../../src/base/ticks.ts";
import type { ReceivedBody } from "../../src/content/content-ref.ts";
import { nextETag, noConditions, parseConditions } from "../../src/protocol/conditions.ts";
import type { Features } from "../../src/protocol/features.ts";
import { parseLeaseId } from "../../src/protocol/lease.ts";
import { parseParams } from "../../src/protocol/params.ts";
import type { ParamReader } from "../../src/protocol/params.ts";
import { ok } from "../../src/protocol/result.ts";
import type { Result } from "../../src/protocol/result.ts";
import { check } from "../../src/operation/check.ts";
import type { Dialect } from "../../src/operation/dialect.ts";
import type { Call } from "../../src/operation/execute.ts";
import type { Address, Operation } from "../../src/operation/operation.ts";
import type { Reply } from "../../src/operation/reply.ts";
import type { Resource } from "../../src/operation/service.ts";
import type { CopySource } from "../../src/operation/source.ts";

/** The records that an operation finds, and the service's rules for them. */
export interface StoredState {
  readonly resource: Resource;
  readonly scope: object;
  readonly address: Address;
  /** Undefined if the target does not exist. */
  readonly target?: object | undefined;
  /** Result of the operation's `reads`. */
  readonly readResult?: unknown;
  readonly features?: Partial<Features>;
  readonly dialect?: Dialect;
}

/** The relevant part of a request. Names of headers and query parameters are lower-case. */
export interface TestRequest {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** The parsed body of an XML or JSON operation. */
  readonly body?: unknown;
  /** The received bytes of a content operation. */
  readonly received?: ReceivedBody;
  readonly source?: CopySource;
  readonly version?: string;
}

/** 2022-09-28T22:13:20Z. */
export const testNow: Ticks = 638_000_000_000_000_000n;
export const testGuid = "99999999-9999-4999-8999-999999999999";

const flat: Features = {
  versioning: false,
  containerSoftDeleteDays: 0,
  shareSoftDeleteDays: 0,
  publicAccess: true,
};

/** Parses the request, runs the checks and calls `decide`, as a transaction would, but on the given
 *  records. Returns the code of a fault, `304`, or the reply. */
export function decideOn(
  operation: Operation,
  state: StoredState,
  request: TestRequest = {},
): Reply<object> | string {
  const call = callOf(operation, state, request);
  if (!call.ok) return call.fault.code;
  const { scope, target, readResult } = state;
  const loaded = { access: undefined, scope: ok(scope), target, cors: [] };
  const rejected = check(call.value, loaded, testNow);
  if (rejected !== undefined) return rejected.kind === "fault" ? rejected.fault.code : "304";
  const tagged: { readonly etag?: Ticks } | undefined = target;
  const decision = operation.decide({
    ...call.value,
    received: request.received ?? { length: 0, pieces: [] },
    scope,
    target,
    readResult,
    now: testNow,
    callerId: undefined,
    aclCaller: undefined,
    permits: undefined,
    isUnconditional: true,
    newETag: nextETag(testNow, tagged?.etag),
    newId: () => 99n,
    newGuid: () => testGuid,
  });
  if ("wait" in decision) throw new Error(`${operation.name} waits`);
  return "fault" in decision ? decision.fault.code : decision;
}

function callOf(
  operation: Operation,
  { resource, address, features, dialect }: StoredState,
  { headers = {}, query = {}, body, received, source, version = "2023-11-03" }: TestRequest,
): Result<Call> {
  const reader: ParamReader = {
    version,
    header: (name) => headers[name],
    query: (name) => query[name],
    headersWith: (prefix) => Object.entries(headers).filter(([name]) => name.startsWith(prefix)),
  };
  const input = parseParams(operation.params, reader);
  if (!input.ok) return input;
  const conditions = readConditions(operation, reader, dialect);
  if (!conditions.ok) return conditions;
  const leaseId = operation.lease === "action" ? ok(undefined) : parseLeaseId(reader);
  if (!leaseId.ok) return leaseId;
  return ok({
    operation,
    resource,
    account: "account",
    features: { ...flat, ...features },
    address,
    version,
    endpoint: "http://localhost/account",
    secondary: false,
    input: { ...input.value, body },
    conditions: conditions.value,
    leaseId: leaseId.value,
    received,
    source,
    delegate: undefined,
    requestId: "00000000-0000-0000-0000-000000000000",
    clientRequestId: undefined,
    authorise: () => ok(undefined),
  });
}

function readConditions(operation: Operation, reader: ParamReader, dialect: Dialect | undefined) {
  if (operation.conditions === "none") return ok(noConditions);
  if (operation.conditions === "match" && dialect?.readMatch) return dialect.readMatch(reader);
  return parseConditions(reader, operation.conditions === "tags" ? "blob" : "plain");
}
