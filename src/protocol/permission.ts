import type { Ticks } from "../base/ticks.ts";
import type { AccessNeed } from "./posix-access.ts";
import type { ActionNeed } from "./roles/role.ts";

/** The form in which an operation declares the permission that it requires, and stored access
 *  policies. `authorise.ts` evaluates both. */

/**
 * The permission that an operation requires. An account key permits everything; the fields apply to
 * other credentials and to anonymous requests.
 *
 * Put Message: `{ letters: "a", resourceType: "o" }`.
 * Delete Container: `{ letters: "d", resourceType: "c", sas: "account-only" }`.
 * Set Container ACL: `{ resourceType: "c", sas: "none" }`.
 * Get Blob: `{ letters: "r", resourceType: "o", publicRead: "blob" }`.
 * Insert Or Merge Entity: `{ letters: "au", needsEveryLetter: true, resourceType: "o" }`.
 */
export interface Permission {
  /** Letters of `sp`, of which a SAS must have one; undefined: any valid SAS suffices. */
  readonly letters?: string;
  /** Requires all letters instead of one: an upsert both adds and updates. */
  readonly needsEveryLetter?: true;
  /** What access control lists must grant a caller with a bearer token on an account with a
   *  hierarchical namespace; follows from the letters if absent. */
  readonly posix?: AccessNeed;
  /** The actions that a role must grant, where they do not follow from the other fields. */
  readonly actions?: ActionNeed;
  /** The actions that a role must grant in addition for a request with these parameters. */
  readonly furtherActions?: (input: object) => ActionNeed | undefined;
  /** Letters of `srt` (service, container, object), of which an account SAS must have one. */
  readonly resourceType: ResourceTypeLetters;
  /** `account-only`: a service SAS is never accepted; `none`: no SAS is. */
  readonly sas?: "account-only" | "none";
  /** Anonymous requests are allowed if the container has at least this public access. */
  readonly publicRead?: "container" | "blob";
  /** A request with a bearer token must state its intent in `x-ms-file-request-intent`: the
   *  permissions of single files are not checked for it. */
  readonly needsIntent?: true;
  /** Only a bearer token is accepted, because a user delegation key belongs to the user of the
   *  token. */
  readonly bearerOnly?: true;
  /** Requests without credentials are allowed: a browser sends none with a preflight request. */
  readonly allowsAnonymous?: true;
  /** Whether a request with these parameters also affects or returns what is below the target. If
   *  the target is a directory, a SAS for a single blob does not permit that. */
  readonly reachesBelow?: (input: object) => boolean;
  /** Replacing an existing target requires `w`; a SAS with `c` alone may only create. */
  readonly overwrite?: true;
  /** A request without credentials gets 404 in every version, as for Get Account Information. */
  readonly notFoundIfAnonymous?: true;
}

type ResourceTypeLetters = "s" | "c" | "o" | "sc" | "so" | "co" | "sco";

/** A stored access policy of a container, queue, table or share: supplies the fields that a SAS
 *  with its id omits. */
export interface StoredPolicy {
  readonly id: string;
  readonly start?: Ticks | undefined;
  readonly expiry?: Ticks | undefined;
  /** Permission letters as in the parameter `sp` of a SAS. */
  readonly permission?: string | undefined;
}
