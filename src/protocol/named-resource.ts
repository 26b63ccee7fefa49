import type { Permission } from "./permission.ts";
import type { Ticks } from "../base/ticks.ts";

/**
 * A resource that a request names beside its target. An operation declares each of them with what
 * the caller must hold there; the pipeline authorises it, so that a token for one resource is of no
 * use for another.
 *
 * Copy Blob: `[copySource]`.
 * Create Hard Link: the file in `x-ms-file-target-file`, which the token of the request must cover.
 */
export type NamedResource<A, I> = LinkedResource | CoveredResource<A, I> | PartResources;

/** Named by URL, with credentials of its own: in the URL or in `x-ms-copy-source-authorization`.
 *  A caller who holds the key of the account needs none inside it. */
export interface LinkedResource {
  readonly kind: "linked";
  /** The header that holds the URL. */
  readonly parameter: string;
  readonly permission: Permission;
}

/** Named by a parameter, in the same account: the credentials of the request must cover it. */
export interface CoveredResource<A, I> {
  readonly kind: "covered";
  readonly parameter: string;
  readonly permission: Permission;
  /** Undefined if this request does not name it. */
  readonly named: (address: A, input: I) => NamedTarget | undefined;
}

/** Named by the parts of the body: each part is a request that the pipeline authorises by the
 *  permission of its own operation, with its own credentials or with those of the body. */
export interface PartResources {
  readonly kind: "parts";
  readonly credentials: "own" | "request";
}

/** In the terms of a signature: the container or share, and what is below it. */
export interface NamedTarget {
  readonly name: string;
  readonly path?: string | undefined;
  /** Of a blob snapshot. */
  readonly moment?: Ticks | undefined;
}

export const copySource: LinkedResource = {
  kind: "linked",
  parameter: "x-ms-copy-source",
  permission: { letters: "r", resourceType: "o", publicRead: "blob" },
};

/** A rename takes its source away, so reading it is not enough. */
export const renameSource: LinkedResource = {
  kind: "linked",
  parameter: "x-ms-file-rename-source",
  permission: { letters: "w", resourceType: "o" },
};
