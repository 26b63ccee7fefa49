/** The settings of an account that change how operations behave. `decide` of an operation gets
 *  them; all settings are in `account/settings.ts`. */
export interface Features {
  /** Every overwrite and delete of a blob keeps the previous version. */
  readonly versioning: boolean;
  /** How long a deleted container can be restored, in days; 0: not at all. */
  readonly containerSoftDeleteDays: number;
  /** How long a deleted share can be restored, in days; 0: not at all. */
  readonly shareSoftDeleteDays: number;
  /** Whether containers may have public access. */
  readonly publicAccess: boolean;
  /** Whether reads of a blob store the day of the last access, which listings then show. */
  readonly lastAccessTracking?: boolean;
  /** Whether the account has a hierarchical namespace. */
  readonly hierarchicalNamespace?: boolean;
  /** Names of the encryption scopes. Undefined: none is configured, and each name counts as an
   *  existing scope. */
  readonly encryptionScopes?: readonly string[] | undefined;
  /** How long the name of a deleted container, queue, table or share cannot be reused, in
   *  seconds. */
  readonly deletedNameSeconds?: number;
  /** The revision of the settings in the account record, to notice their change; undefined for an
   *  account whose settings are in the configuration. */
  readonly settingsRevision?: bigint | undefined;
}
