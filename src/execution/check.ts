import { checkRead, checkWrite } from "../core/conditions.ts";
import { checkLease } from "../core/lease.ts";
import { fail, ok, type Result } from "../core/result.ts";
import type { Located } from "../core/service.ts";
import type { Ticks } from "../core/ticks.ts";
import type { Call, Outcome, Stamped } from "./execute.ts";

const done = ok(undefined);

/** Refusals in the service's own order: access, place, existence, lease, conditions. */
export function check(call: Call, located: Located, now: Ticks): Outcome | undefined {
  call.located(located);
  const target: Stamped | undefined = located.target;
  const allowed = call.authorise(located.access, target !== undefined, call.address);
  if (!allowed.ok) return faultOutcome(allowed);
  if (!located.scope.ok) return faultOutcome(located.scope);
  const existence = checkExistence(call, target);
  if (!existence.ok) return faultOutcome(existence);
  if (target === undefined && call.operation.target === "optional") return undefined;
  const leased = checkTargetLease(call, target, now);
  if (!leased.ok) return faultOutcome(leased);
  return checkConditions(call, target) ?? checkGuard(call, target, now);
}

function checkGuard(call: Call, target: object | undefined, now: Ticks): Outcome | undefined {
  const { guard } = call.resource;
  if (guard === undefined) return undefined;
  const { operation, address, input, features } = call;
  const verdict = guard({ operation, address, input, features, target, now });
  return verdict.ok ? undefined : faultOutcome(verdict);
}

function checkExistence({ operation, resource }: Call, target: object | undefined): Result<void> {
  if (operation.target === "must-exist" && target === undefined) return fail(resource.missing);
  if (operation.target === "must-not-exist" && target !== undefined) return fail(resource.present);
  return done;
}

function checkTargetLease(call: Call, target: Stamped | undefined, now: Ticks): Result<void> {
  const policy = call.operation.lease;
  if (policy === "none" || policy === "action") return done;
  const lease = target?.lease;
  return checkLease(lease, call.leaseId, policy, call.resource.leaseKind, now);
}

function checkConditions(call: Call, target: Stamped | undefined): Outcome | undefined {
  const { operation, conditions } = call;
  if (operation.conditions === "none") return undefined;
  const present = target?.etag === undefined ? undefined : { etag: target.etag, tags: target.tags };
  const { conditions: policy, effect } = operation;
  if (policy === "read" || (policy === "tags" && effect === "reads")) {
    const verdict = checkRead(conditions, present);
    if (verdict === "not-modified") return { kind: "not-modified" };
    return verdict.ok ? undefined : faultOutcome(verdict);
  }
  const creates = operation.conditions === "create";
  const holdsLease = call.leaseId !== undefined;
  const { any, noETag } = operation.unmet ?? {};
  const unmet = {
    ...(any === undefined ? {} : { unmet: any }),
    ...(noETag === undefined ? {} : { unmetNoETag: noETag }),
  };
  const verdict = checkWrite(conditions, present, { creates, holdsLease, ...unmet });
  return verdict.ok ? undefined : faultOutcome(verdict);
}

function faultOutcome(failure: Result<unknown>): Outcome {
  if (failure.ok) throw new Error("a fault was expected");
  return { kind: "fault", fault: failure.fault };
}
