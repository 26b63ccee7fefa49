import {
  authorise,
  authoriseWithRecord,
  isDecidedByRecord,
  mayOverwrite,
  mayUseTags,
} from "../protocol/authorise.ts";
import type { AuthorisationTarget } from "../protocol/authorise.ts";
import { authoriseNamed } from "../protocol/authorise-named.ts";
import type { Address, Operation } from "../operation/operation.ts";
import type { Principal } from "../protocol/principal.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { Call } from "../operation/execute.ts";
import type { HttpService, AuthenticatedCaller, RequestTarget } from "./http-service.ts";
import type { WireRequest } from "./wire.ts";

const granted = ok(undefined);

/** What can be decided before a record is read. */
export function checkPermission(
  door: HttpService,
  { location, address, version }: RequestTarget,
  { principal }: AuthenticatedCaller,
  operation: Operation,
): Result<void> {
  if (location.secondary && operation.effect === "writes") {
    return fail("InsufficientAccountPermissions", { message: "Write operations are not allowed." });
  }
  return authorise(principal, operation.permission, authorisationTarget(door, address, version));
}

export interface Authorised {
  readonly request: WireRequest;
  readonly known: AuthenticatedCaller;
  readonly operation: Operation;
  readonly version: string;
  readonly input: object;
}

/** The final decision, made inside the transaction: on the target, and on what else is named. */
export function authoriserOf(door: HttpService, authorised: Authorised): Call["authorise"] {
  const { request, known, operation, version, input } = authorised;
  return (access, exists, address) => {
    const { principal, settings } = known;
    if (principal.kind === "key") return granted;
    const { permission: need, names } = operation;
    const tagged = asksForTags(request);
    // What no record can change was settled before the transaction.
    const isSettled = need.overwrite !== true && !tagged && names === undefined;
    if (isSettled && !dependsOnRecord(door, principal)) return granted;
    const target = authorisationTarget(door, address, version);
    const recordAccess = access && {
      publicAccess: access.publicAccess,
      policies: access.policies,
      publicAccessPermitted: settings.publicAccess,
      wallNow: door.clock.wall(),
    };
    const resolved = authoriseWithRecord(principal, need, target, recordAccess);
    if (!resolved.ok) return resolved;
    if (tagged && !mayUseTags(resolved.value)) return fail("AuthorizationPermissionMismatch");
    const overwrites = exists && need.overwrite === true;
    if (overwrites && !mayOverwrite(resolved.value)) return fail("UnauthorizedBlobOverwrite");
    if (names === undefined) return granted;
    return authoriseNamed(names, { principal, address, input, target, access: recordAccess });
  };
}

function authorisationTarget(
  { service }: HttpService,
  address: Address,
  version: string,
): AuthorisationTarget {
  if (service.name !== "table") return { service: service.name, version };
  const { name: table, entity } = service.signedName(address);
  return { service: service.name, version, table, entity };
}

/** Setting tags, or asking about them in a condition, takes more than the operation itself. */
function asksForTags({ headers }: WireRequest): boolean {
  return headers["x-ms-tags"] !== undefined || headers["x-ms-if-tags"] !== undefined;
}

/** The entities of a table signature are checked against the address that was found. */
function dependsOnRecord({ service }: HttpService, principal: Principal): boolean {
  const mayBeRanged = service.name === "table" && principal.kind === "service-sas";
  return mayBeRanged || isDecidedByRecord(principal);
}
