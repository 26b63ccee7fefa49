import type { FaultCode } from "./faults.ts";
import type { LeaseKind } from "./lease.ts";
import { fail, type Failure } from "./result.ts";

const nouns: Readonly<Record<LeaseKind, string>> = {
  blob: "blob",
  container: "container",
  file: "file",
  share: "file share",
};

/** Fault codes of a wrong lease id. Shares have the codes of containers with a text of their
 *  own. */
const mismatchCodes: Readonly<Record<LeaseKind, FaultCode>> = {
  blob: "LeaseIdMismatchWithBlobOperation",
  container: "LeaseIdMismatchWithContainerOperation",
  file: "LeaseIdMismatchWithFileOperation",
  share: "LeaseIdMismatchWithContainerOperation",
};

const notPresentCodes: Readonly<Record<LeaseKind, FaultCode>> = {
  blob: "LeaseNotPresentWithBlobOperation",
  container: "LeaseNotPresentWithContainerOperation",
  file: "LeaseNotPresentWithFileOperation",
  share: "LeaseNotPresentWithContainerOperation",
};

/** For a write without lease id to a leased resource. */
export function leaseMissing(kind: LeaseKind): Failure {
  const message =
    `There is currently a lease on the ${nouns[kind]} and no lease ID was specified ` +
    "in the request.";
  return fail("LeaseIdMissing", { message });
}

/** For a request with the id of a lease that has ended. */
export function leaseLost(kind: LeaseKind): Failure {
  const message = `A lease ID was specified, but the lease for the ${nouns[kind]} has expired.`;
  return fail("LeaseLost", { message });
}

/** For a request with another lease id than the current one. `during`: a data operation or a lease
 *  action. */
export function leaseMismatch(kind: LeaseKind, during: "operation" | "action"): Failure {
  const message = `The lease ID specified did not match the lease ID for the ${nouns[kind]}.`;
  const code = during === "action" ? "LeaseIdMismatchWithLeaseOperation" : mismatchCodes[kind];
  return fail(code, { message });
}

/** For a request with a lease id for a resource without lease. `during`: a data operation or a
 *  lease action. */
export function leaseNotPresent(kind: LeaseKind, during: "operation" | "action"): Failure {
  const message = `There is currently no lease on the ${nouns[kind]}.`;
  const code = during === "action" ? "LeaseNotPresentWithLeaseOperation" : notPresentCodes[kind];
  return fail(code, { message });
}
