/** The settings of an account that operations depend on. */
export interface Features {
  readonly versioning: boolean;
  readonly containerSoftDeleteDays: number;
  readonly shareSoftDeleteDays: number;
  readonly publicAccess: boolean;
  /** Whether reads of a blob leave the day of the latest one. */
  readonly lastAccessTracking?: boolean;
  /** Whether paths lead through directories; otherwise the namespace is flat. */
  readonly hierarchicalNamespace?: boolean;
  /** How long the name of a deleted container, queue, table or share cannot be used again. */
  readonly deletedNameSeconds?: number;
}
