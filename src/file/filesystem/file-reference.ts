/** How a handle refers to its share: the account and name are the key of the share's record. The id
 *  tells apart a share that was deleted and created again under the same name. */
export interface ShareAddress {
  readonly accountName: string;
  readonly account: bigint;
  readonly name: string;
  readonly id: bigint;
}

/** How a handle refers to its file: by the file's id, which survives renames, or by its path in a
 *  share snapshot. */
export interface FileReference {
  readonly share: ShareAddress;
  readonly file: bigint;
  readonly snapshot?: { readonly epoch: number; readonly path: readonly string[] } | undefined;
}
