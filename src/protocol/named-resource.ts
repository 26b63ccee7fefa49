import { directoryChange } from "./authorise.ts";
import type { Permission } from "./permission.ts";
import type { Ticks } from "../base/ticks.ts";

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
  /** The header with the URL. */
  readonly parameter: string;
  readonly permission: Permission;
  /** The header contains a path below the account instead of a URL. If it has no SAS of its own,
   *  the credentials of the request must be valid for it. */
  readonly below?: "account";
}

/** A resource in the same account that is named by a parameter. The credentials of the request must
 *  be valid for it. */
export interface SameCredentialsResource<A, I> {
  readonly kind: "same-credentials";
  /** The header or query parameter that names it. */
  readonly parameter: string;
  readonly permission: Permission;
  /** Returns the resource; undefined if the request does not name it. */
  readonly resourceOf: (address: A, input: I) => NamedTarget | undefined;
}

/** The resources that the parts of a body address. Each part is a request; it is authorised with
 *  the permission of its own operation, with its own credentials or with those of the whole
 *  request. */
interface PartResources {
  readonly kind: "parts";
  readonly credentials: "own" | "request";
}

/** Container or share, and the path below it, as a SAS names them. */
export interface NamedTarget {
  readonly name: string;
  readonly path?: string | undefined;
  /** Time of a blob snapshot. */
  readonly snapshotTime?: Ticks | undefined;
}

export const copySource: LinkedResource = {
  kind: "linked",
  parameter: "x-ms-copy-source",
  permission: { letters: "r", resourceType: "o", publicRead: "blob" },
};

/** The source of a rename of a file. A rename removes its source, so read permission is not
 *  enough. */
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
