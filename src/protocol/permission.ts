import type { Ticks } from "../base/ticks.ts";

/**
 * What a caller must hold to run an operation, declared once with the operation. Account keys and
 * accepted bearer tokens hold everything; the fields say what a shared access signature or an
 * anonymous caller needs.
 *
 * Put Message: `{ letters: "a", resourceType: "o" }`.
 * Delete Container: `{ letters: "d", resourceType: "c", sas: "account-only" }`.
 * Set Container ACL: `{ letters: "", resourceType: "c", sas: "none" }`.
 * Get Blob: `{ letters: "r", resourceType: "o", publicRead: "blob" }`.
 * Insert Or Merge Entity: `{ letters: "au", every: true, resourceType: "o" }`.
 */
export interface Permission {
  /** Letters of `sp` of which any one suffices; none at all (`""`) means any valid token does. */
  readonly letters: string;
  /** All of the letters are needed instead of any one: an upsert both adds and updates. */
  readonly every?: true;
  /** Letters of `srt` of which an account SAS must hold one: service, container, object. */
  readonly resourceType: ResourceTypeLetters;
  /** `account-only`: a service SAS never suffices, whatever its letters; `none`: no SAS does. */
  readonly sas?: "account-only" | "none";
  /** Open to anyone on a container of at least this public access; `container` is the wider. */
  readonly publicRead?: "container" | "blob";
  /** Only a bearer token will do: a delegation key is handed to a named user. */
  readonly bearerOnly?: true;
  /** Anyone may, with or without credentials: a browser asks before it has any. */
  readonly open?: true;
  /** `c` alone only creates: replacing what exists needs `w`. */
  readonly overwrite?: true;
  /** Without credentials the answer is 404 at every version, as Get Account Information gives. */
  readonly hidden?: true;
}

export type ResourceTypeLetters = "s" | "c" | "o" | "sc" | "so" | "co" | "sco";

/** A stored access policy: what a signature that names it leaves open. Part of an ACL. */
export interface StoredPolicy {
  readonly id: string;
  readonly start?: Ticks | undefined;
  readonly expiry?: Ticks | undefined;
  /** Letters as in `sp`. */
  readonly permission?: string | undefined;
}
