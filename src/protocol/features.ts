/** The settings of an account that operations depend on. */
export interface Features {
  readonly versioning: boolean;
  readonly containerSoftDeleteDays: number;
  readonly shareSoftDeleteDays: number;
  readonly publicAccess: boolean;
  /** Whether reads of a blob store the day of the last access. */
  readonly lastAccessTracking?: boolean;
  /** Whether paths consist of directories; otherwise the namespace is flat. */
  readonly hierarchicalNamespace?: boolean;
  /** How long the name of a deleted container, queue, table or share cannot be reused, in
   *  seconds. */
  readonly deletedNameSeconds?: number;
}
