/**
 * What Azure keeps on its management plane, per account: no REST operation of the four services
 * can change it, so it comes from a configuration file or from whoever starts the server.
 */
export interface AccountSettings {
  readonly name: string;
  /** Base64. Either key signs, so that one can be replaced while the other is in use. */
  readonly keys: AccountKeys;
  /** Every overwrite and delete of a blob keeps the previous version. */
  readonly versioning: boolean;
  /** How long a deleted container can be restored; 0 turns that off. */
  readonly containerSoftDeleteDays: number;
  /** How long a deleted share can be restored; 0 turns that off. */
  readonly shareSoftDeleteDays: number;
  /** Whether containers may be opened to anonymous readers at all. */
  readonly publicAccess: boolean;
  /** Whether requests signed with an account key are let in. */
  readonly sharedKey: boolean;
  /** Whether reads of a blob leave the day of the latest one. */
  readonly lastAccessTracking: boolean;
  /** How long the name of a deleted container, queue, table or share cannot be used again. */
  readonly deletedNameSeconds: number;
  /** Whether paths lead through directories. Fixed once the account has a container. */
  readonly hierarchicalNamespace: boolean;
  readonly smb: { readonly requireEncryption: boolean };
}

export type AccountKeys = readonly [first: string] | readonly [first: string, second: string];

/** A view that follows re-reads of the configuration: ask it anew for every request. */
export interface Accounts {
  get(name: string): AccountSettings | undefined;
  names(): readonly string[];
}

export const developmentAccountName = "devstoreaccount1";
/** Published in Azure's own documentation for emulators, so it protects nothing. */
export const developmentAccountKey =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

export const softDeleteDaysMax = 365;
export const deletedNameSecondsMax = 3600;

export const accountDefaults: Omit<AccountSettings, "name" | "keys"> = {
  versioning: false,
  containerSoftDeleteDays: 0,
  shareSoftDeleteDays: 0,
  publicAccess: true,
  sharedKey: true,
  lastAccessTracking: false,
  deletedNameSeconds: 0,
  hierarchicalNamespace: false,
  smb: { requireEncryption: false },
};

export function developmentAccount(): AccountSettings {
  return { name: developmentAccountName, keys: [developmentAccountKey], ...accountDefaults };
}

/** Whether every key of every account is published, so that no account has a secret. */
export function isDevelopmentAlone(accounts: Accounts): boolean {
  return accounts.names().every((name) => {
    const keys = accounts.get(name)?.keys ?? [];
    return name === developmentAccountName && keys.every((key) => key === developmentAccountKey);
  });
}

export function accountsOf(list: readonly AccountSettings[]): Accounts {
  const byName = new Map(list.map((account) => [account.name, account]));
  const names = [...byName.keys()];
  return { get: (name) => byName.get(name), names: () => names };
}
