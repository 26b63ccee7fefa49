import {
  directoryChange,
  authoriseWithRecord,
  rejectToken,
  type AuthorisationTarget,
  type RecordAccess,
} from "./authorise.ts";
import type { Permission } from "./permission.ts";
import type { Ticks } from "../base/ticks.ts";
import { parseSnapshotTime } from "../base/dates.ts";
import type { Principal, SasResource, SasResourceKind } from "./principal.ts";
import { fail, ok, type Result } from "./result.ts";

/** The resources that a request names beside its target, such as copy sources, and the check that
 *  its credentials are valid for them. Operations declare them; `http/auth/authorise-call.ts`
 *  checks them. */

/** A resource that a request names beside its target. An operation declares each one with the
 *  permission that the request needs for it. The pipeline checks it, so that a SAS for one resource
 *  gives no access to another. Copy Blob declares `copySource`. Create Hard Link declares the file
 *  in `x-ms-file-target-file`, for which the credentials of the request must be valid. */
export type NamedResource<A, I> = LinkedResource | SameCredentialsResource<A, I> | PartResources;

/** A resource named by a URL with its own credentials, in the URL or in
 *  `x-ms-copy-source-authorization`. A request that is signed with the account key needs no other
 *  credentials inside the account. */
export interface LinkedResource {
  readonly kind: "linked";
  /** The header that names the resource: with a URL, unless `below` is set. */
  readonly parameter: string;
  readonly permission: Permission;
  /** Set for renames of paths (Data Lake): the header has a path below the account instead of a
   *  URL. If the path has no SAS, the credentials of the request must be valid for it. */
  readonly below?: "account";
}

/** A resource in the same account that a parameter names, such as the file of a hard link or the
 *  earlier snapshot of Get Page Ranges. The credentials of the request must be valid for it. */
export interface SameCredentialsResource<A, I> {
  readonly kind: "same-credentials";
  /** The header or query parameter that names it. */
  readonly parameter: string;
  readonly permission: Permission;
  /** Returns the resource; undefined if the request does not name it. */
  readonly resourceOf: (address: A, input: I) => NamedTarget | undefined;
}

/** The resources that the parts of a batch or transaction address. Each part is a request,
 *  authorised with the permission of its own operation, and with its own credentials or those of
 *  the whole request. */
interface PartResources {
  readonly kind: "parts";
  readonly credentials: "own" | "request";
}

/** Container or share, and the path below it, as a SAS names them. */
interface NamedTarget {
  readonly name: string;
  readonly path?: string | undefined;
  /** Time of a blob snapshot. */
  readonly snapshotTime?: Ticks | undefined;
}

/** The source that Copy Blob and similar operations name in `x-ms-copy-source`. */
export const copySource: LinkedResource = {
  kind: "linked",
  parameter: "x-ms-copy-source",
  permission: { letters: "r", resourceType: "o", publicRead: "blob" },
};

/** The source of a rename of a file, which needs write permission because it is removed. */
export const renameSource: LinkedResource = {
  kind: "linked",
  parameter: "x-ms-file-rename-source",
  permission: { letters: "w", resourceType: "o" },
};

/** The source of a rename of a path: `/filesystem/path`, or `/filesystem/path?signature` with a
 *  SAS. */
export const pathRenameSource: LinkedResource = {
  kind: "linked",
  parameter: "x-ms-rename-source",
  permission: {
    letters: "md",
    resourceType: "o",
    posix: directoryChange,
    reachesBelow: () => true,
  },
  below: "account",
};

/** A request whose named resources are checked, and what its principal may access. */
interface NamingRequest<A> {
  readonly principal: Principal;
  readonly address: A;
  readonly input: object;
  readonly target: AuthorisationTarget;
  /** Access rules of the container or share that the request addresses. */
  readonly access: RecordAccess | undefined;
  /** Whether the roles of the principal grant a permission on the container, share, queue or table
   *  `name`. */
  readonly rolesAllow: (permission: Permission, name: string) => boolean;
}

/** Checks that the credentials of a request permit access to the resources that it names. */
export function authoriseNamed<A>(
  resources: readonly NamedResource<A, object>[],
  request: NamingRequest<A>,
): Result<void> {
  for (const resource of resources) {
    if (resource.kind !== "same-credentials") continue;
    const allowed = authoriseCovered(resource, request);
    if (!allowed.ok) return allowed;
  }
  return ok(undefined);
}

function authoriseCovered<A>(
  { resourceOf, permission }: SameCredentialsResource<A, object>,
  { principal, address, input, target, access, rolesAllow }: NamingRequest<A>,
): Result<void> {
  const resource = resourceOf(address, input);
  if (resource === undefined) return ok(undefined);
  const covered = authoriseCoverage(principal, resource);
  if (!covered.ok) return covered;
  if (!rolesAllow(permission, resource.name)) return fail("AuthorizationPermissionMismatch");
  const allowed = authoriseWithRecord(principal, permission, target, access);
  return allowed.ok ? ok(undefined) : allowed;
}

/** Checks that a SAS is valid for a resource, without its permissions. Other credentials are not
 *  limited to a resource. */
export function authoriseCoverage(principal: Principal, resource: NamedTarget): Result<void> {
  if (isResourceSas(principal) && !covers(principal.resource, resource)) {
    return rejectToken(principal, "AuthorizationFailure");
  }
  return ok(undefined);
}

/** Checks that a SAS is valid for all that the operation reaches below its target. A SAS for a blob
 *  (`sr=b`) is valid for a directory, too, but not for the paths below it; a SAS for a directory
 *  (`sr=d`) is. `isFile` is true if nothing can be below the target. */
export function authoriseReach(
  principal: Principal,
  { reachesBelow }: Permission,
  { input, isFile }: { readonly input: object; readonly isFile: boolean | undefined },
): Result<void> {
  if (reachesBelow === undefined || isFile === true || !isResourceSas(principal)) {
    return ok(undefined);
  }
  const isForSingle = singleKinds.has(principal.resource.kind);
  return isForSingle && reachesBelow(input)
    ? rejectToken(principal, "AuthorizationFailure")
    : ok(undefined);
}

const singleKinds: ReadonlySet<SasResourceKind> = new Set(["blob", "snapshot", "version"]);

function isResourceSas(principal: Principal) {
  return principal.kind === "service-sas" || principal.kind === "delegation-sas";
}

/** Whether a SAS is valid for a resource. A SAS for a file is valid for that file alone, one for a
 *  blob also for the blob's snapshots, one for a blob snapshot only for that snapshot. */
function covers({ kind, name, path, snapshotOrVersion }: SasResource, named: NamedTarget): boolean {
  if (name !== named.name) return false;
  switch (kind) {
    case "container":
    case "share":
    case "queue":
    case "table":
      return true;
    case "blob":
    case "file":
      return path !== undefined && path === named.path;
    case "snapshot":
      return path === named.path && parseSnapshotTime(snapshotOrVersion) === named.snapshotTime;
    case "directory":
      return (
        path === undefined || named.path === path || named.path?.startsWith(`${path}/`) === true
      );
    case "version":
      return false;
  }
}
