import {
  checkRead,
  checkWrite,
  checkWriteDates,
  noConditions,
  unmodifiedBy,
  type Conditions,
} from "../protocol/conditions.ts";
import type { ConditionName, Fault } from "../protocol/faults.ts";
import { checkLease, leaseState, type Lease } from "../protocol/lease.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { LoadedResource } from "./service.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Call, Outcome, ETaggedRecord } from "./execute.ts";

/** The checks that every operation declares instead of programming them: access, existence of the
 *  target, lease, conditional headers, rules of the service. Their order decides which of several
 *  faults a client gets, and is that of Azure. `run.ts` calls it before each decision, `precheck`
 *  (`execute.ts`) before a body is received. */

const done = ok(undefined);

/** Which check rejected a request, and the record that the check saw. For the request feed of the
 *  admin API; never sent to the client. */
export interface Rejection {
  readonly rule: Rule;
  readonly target: ETaggedRecord | undefined;
  readonly now: Ticks;
  /** The conditional header that failed; undefined if another check failed. */
  readonly failedCondition: ConditionName | undefined;
}

/** The checks in their order. `place` is the check of the scope, that is of the target's parent
 *  records; the request feed sends these names. */
export type Rule = "access" | "place" | "existence" | "lease" | "condition" | "guard" | "decision";

/** Runs the checks that precede an operation's decision (called by `run.ts`), in the service's
 *  order: access, scope, existence, lease, conditions, guard. Returns the outcome of the first
 *  check that fails; undefined if all pass. */
export function check(call: Call, loaded: LoadedResource, now: Ticks): Outcome | undefined {
  const target: ETaggedRecord | undefined = loaded.target;
  const { access, address = call.address } = loaded;
  const allowed = call.authorise(access, target !== undefined, address);
  if (!allowed.ok) return rejected("access", allowed.fault, loaded, now);
  if (call.operation.target === "ignored") return undefined;
  if (!loaded.scope.ok) return rejected("place", loaded.scope.fault, loaded, now);
  const existence = checkExistence(call, loaded);
  if (!existence.ok) {
    return rejected("existence", describePresent(call, existence.fault, target), loaded, now);
  }
  // A blob that has only uncommitted blocks is no target, but may have a lease.
  const lease = target === undefined ? loaded.lease : target.lease;
  if (target === undefined && lease === undefined && call.operation.target === "optional") {
    return call.operation.conditions === "create" ? checkConditions(call, loaded, now) : undefined;
  }
  const leased = checkTargetLease(call, lease, now);
  if (!leased.ok) {
    const failed = precedesLease(call, loaded) ? checkConditions(call, loaded, now) : undefined;
    return failed ?? rejected("lease", leased.fault, loaded, now);
  }
  return checkConditions(call, loaded, now) ?? checkGuard(call, loaded, now);
}

/** Whether `If-None-Match: *` takes precedence over the lease of an existing target: Hadoop relies
 *  on it to detect that another writer has created the file. */
function precedesLease(
  { operation, conditions, leaseId }: Call,
  { scope }: LoadedResource,
): boolean {
  const { ifNoneMatchAny: any } = operation;
  if (conditions.ifNoneMatch !== "*" || leaseId !== undefined) return false;
  return typeof any === "function" && scope.ok && any(scope.value);
}

/** Checks If-Modified-Since and If-Unmodified-Since of a write whose target does not exist, but has
 *  a date from `lastModifiedOf`: a blob with only uncommitted blocks. Undefined if they hold. */
export function checkDatesWithoutTarget(
  call: Call,
  loaded: LoadedResource,
  readResult: unknown,
  now: Ticks,
): Outcome | undefined {
  const { operation, conditions } = call;
  if (operation.lastModifiedOf === undefined || conditions === noConditions) return undefined;
  const lastModified = operation.lastModifiedOf(readResult);
  if (lastModified === undefined) return undefined;
  const verdict = checkWriteDates(conditions, lastModified);
  return verdict.ok ? undefined : rejected("condition", verdict.fault, loaded, now);
}

/** The outcome of a request that fails a check or that its decision rejects. */
export function rejected(
  rule: Rule,
  fault: Fault,
  { target, cors }: LoadedResource,
  now: Ticks,
): Outcome {
  return {
    kind: "fault",
    fault,
    rejection: { rule, target, now, failedCondition: fault.detail?.failedCondition },
    cors,
  };
}

function checkGuard(call: Call, loaded: LoadedResource, now: Ticks): Outcome | undefined {
  const { guard } = call.resource;
  const { target, scope } = loaded;
  if (guard === undefined || !scope.ok) return undefined;
  const { operation, address, input, features } = call;
  const verdict = guard({ operation, address, input, features, target, scope: scope.value, now });
  return verdict.ok ? undefined : rejected("guard", verdict.fault, loaded, now);
}

function checkExistence(
  { operation, resource, version }: Call,
  { target, missing, isNameReserved }: LoadedResource,
): Result<void> {
  if (operation.target === "must-exist" && target === undefined) {
    const { missingBefore: older } = operation;
    const isOlder = older !== undefined && version < older.version;
    return fail(isOlder ? older.code : resource.missing, missing);
  }
  if (operation.target === "must-not-exist" && target !== undefined) return fail(resource.present);
  if (isNameReserved === true) return fail(resource.reserved ?? resource.present);
  return done;
}

function checkTargetLease(call: Call, lease: Lease | undefined, now: Ticks): Result<void> {
  const policy = call.operation.lease;
  if (policy === "none" || policy === "action") return done;
  const checked = checkLease(lease, call.leaseId, policy, call.resource.leaseKind, now);
  if (checked.ok || call.operation.renewsLease?.(call.input) !== true) return checked;
  const isRenewable = leaseState(lease, now) === "expired" && lease?.id === call.leaseId;
  return isRenewable ? done : checked;
}

/** Checks `If-None-Match: *` after the decision, for operations that report a fault of their copy
 *  source first. Undefined if the target does not exist, so that the condition holds. */
export function checkLast(call: Call, loaded: LoadedResource, now: Ticks): Outcome | undefined {
  const { operation, conditions } = call;
  if (operation.ifNoneMatchAny !== "last" || conditions.ifNoneMatch !== "*") return undefined;
  return checkConditions(call, loaded, now, conditions);
}

/** The conditions that are checked before the decision: all but an `If-None-Match: *` that the
 *  operation declares to be checked last or never. */
function earlyConditions({ operation: { ifNoneMatchAny: any }, conditions }: Call): Conditions {
  if ((any !== "last" && any !== "ignored") || conditions.ifNoneMatch !== "*") return conditions;
  const { ifNoneMatch: _, ...others } = conditions;
  return others;
}

function checkConditions(
  call: Call,
  loaded: LoadedResource,
  now: Ticks,
  conditions = earlyConditions(call),
): Outcome | undefined {
  const { operation } = call;
  const target: ETaggedRecord | undefined = loaded.target;
  const { cors } = loaded;
  if (operation.conditions === "none" || conditions === noConditions) return undefined;
  const present = target?.etag === undefined ? undefined : { etag: target.etag, tags: target.tags };
  const { conditions: policy, effect } = operation;
  if (policy === "read" || (policy === "tags" && effect === "reads")) {
    const verdict = checkRead(conditions, present);
    if (verdict === "not-modified") {
      const failedCondition = unmodifiedBy(conditions);
      return {
        kind: "not-modified",
        rejection: { rule: "condition", target, now, failedCondition },
        cors,
      };
    }
    return verdict.ok ? undefined : rejected("condition", verdict.fault, loaded, now);
  }
  const creates = operation.conditions === "create";
  const holdsLease = call.leaseId !== undefined;
  const { any, anyUntil, noETag, outOfRange } = operation.conditionFaults ?? {};
  const isLater = anyUntil !== undefined && call.version > anyUntil;
  const verdict = checkWrite(conditions, present, {
    creates,
    holdsLease,
    failedCode: isLater ? undefined : any,
    notAnETagCode: noETag,
    outOfRangeCode: outOfRange,
  });
  if (verdict.ok) return undefined;
  return rejected("condition", describePresent(call, verdict.fault, target), loaded, now);
}

/** Adds to the fault of an existing target the details that its resource declares, such as the kind
 *  of the entry that exists. */
function describePresent(
  { resource, features }: Call,
  fault: Fault,
  target: ETaggedRecord | undefined,
): Fault {
  const { describePresent: describe, present } = resource;
  if (describe === undefined || target === undefined || fault.code !== present) return fault;
  return { ...fault, detail: { ...fault.detail, ...describe(target, features) } };
}
