/** A share as a handle refers to it: by its id, and by the key of its record. */
export interface ShareAddress {
  readonly account: bigint;
  readonly name: string;
  readonly id: bigint;
}

/** How to find the file of a handle: by its id, or by its path in a share snapshot. */
export interface FilePlace {
  readonly share: ShareAddress;
  readonly file: bigint;
  readonly snapshot?: { readonly epoch: number; readonly path: readonly string[] } | undefined;
}
