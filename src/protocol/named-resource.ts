import { directoryChange } from "./authorise-acl.ts";
import type { Permission } from "./permission.ts";
import type { Ticks } from "../base/ticks.ts";

/** A resource that a request names beside its target. An operation declares each with the
 *  permission that the caller needs for it; the pipeline checks it, so that a token for one
 *  resource is useless for another. Copy Blob: `[copySource]`. Create Hard Link: the file in
 *  `x-ms-file-target-file`, which the token of the request must cover. */
export type NamedResource<A, I> = LinkedResource | SameCredentialsResource<A, I> | PartResources;

/** Named by a URL, with its own credentials in the URL or in `x-ms-copy-source-authorization`. A
 *  caller with the account key needs none inside the account. */
export interface LinkedResource {
  readonly kind: "linked";
  /** The header with the URL. */
  readonly parameter: string;
  readonly permission: Permission;
  /** The header holds a path below the account instead. Without a signature of its own, the
   *  credentials of the request must cover it. */
  readonly below?: "account";
}

/** Named by a parameter, in the same account: the credentials of the request must cover it. */
export interface SameCredentialsResource<A, I> {
  readonly kind: "same-credentials";
  readonly parameter: string;
  readonly permission: Permission;
  /** Returns undefined if the request does not name it. */
  readonly resourceOf: (address: A, input: I) => NamedTarget | undefined;
}

/** Named by the parts of the body: each part is a request that is authorised with the permission of
 *  its own operation, with its own credentials or with those of the whole request. */
export interface PartResources {
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

/** A rename removes its source, so the read permission is not enough. */
export const renameSource: LinkedResource = {
  kind: "linked",
  parameter: "x-ms-file-rename-source",
  permission: { letters: "w", resourceType: "o" },
};

/** `/filesystem/path` or `/filesystem/path?signature`. A rename takes its source away, so that a
 *  signature that only writes is not enough. */
export const pathRenameSource: LinkedResource = {
  kind: "linked",
  parameter: "x-ms-rename-source",
  permission: { letters: "md", resourceType: "o", posix: directoryChange },
  below: "account",
};
