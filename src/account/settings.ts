import type { AccessRules } from "../protocol/roles/role.ts";
import type { Subscription } from "./subscription.ts";
import type { Features } from "../protocol/features.ts";

/** Accounts as requests see them, with the limits and defaults of their settings. */

/** The settings of an account that Azure keeps in its management plane. No REST operation of the
 *  four services changes them; they come from a configuration file, from the options of `start`, or
 *  from the admin API, which stores them. */
export interface AccountSettings extends Features {
  readonly name: string;
  /** One or two keys in base64. Each is accepted, so that one can be replaced while clients use the
   *  other. */
  readonly keys: AccountKeys;
  /** Whether requests signed with an account key are accepted. */
  readonly sharedKey: boolean;
  /** Whether the time of the last read of a block blob is stored, at most once in 24 hours. */
  readonly lastAccessTracking: boolean;
  readonly deletedNameSeconds: number;
  /** Whether paths consist of directories. Fixed once the account has a container. */
  readonly hierarchicalNamespace: boolean;
  /** Most REST requests per second; 0: no limit. Requests beyond it get 503 ServerBusy. */
  readonly requestsPerSecondMax: number;
  /** Most bytes that the account stores; 0: no limit. Writes beyond it get 503 ServerBusy. */
  readonly quotaBytes: number;
  readonly smb: { readonly requireEncryption: boolean };
  /** Whether the container `$blobchangefeed` has the changes of all blobs. */
  readonly changeFeed: boolean;
  /** How long the change feed keeps a change, in days; 0: for ever. */
  readonly changeFeedRetentionDays: number;
  /** The subscriptions to events that the configuration describes, by name. */
  readonly subscriptions?: Readonly<Record<string, Subscription>> | undefined;
  /** The role assignments of the account. Undefined if no roles are configured: then an accepted
   *  bearer token permits everything. */
  readonly roles?: AccessRules | undefined;
  /** The revision of the stored identities that `roles` was computed from; 0 if there are none,
   *  undefined without a store. */
  readonly identityRevision?: bigint | undefined;
}

export type AccountKeys = readonly [first: string] | readonly [first: string, second: string];

/** The accounts that are served now. They may change when the configuration is read again or an
 *  account is created, so each request looks its account up. */
export interface Accounts {
  get(name: string): AccountSettings | undefined;
  names(): readonly string[];
  /** Reads stored accounts that any process has changed; resolves to whether there were any.
   *  Undefined if no accounts are stored. */
  refresh?(): Promise<boolean>;
}

export const developmentAccountName = "devstoreaccount1";
/** Published in Azure's documentation of emulators, so it is no secret. */
export const developmentAccountKey =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/** Azure's limit of `containerSoftDeleteDays` and `shareSoftDeleteDays`. */
export const softDeleteDaysMax = 365;
/** Azure's limit of `changeFeedRetentionDays`: 400 years. */
export const changeFeedRetentionDaysMax = 146_000;
/** Limit of `deletedNameSeconds`. Azure has no such setting: it reserves the name of a deleted
 *  container for at least 30 s, so that an hour is more than a test of that needs. */
export const deletedNameSecondsMax = 3600;
/** Largest value of `requestsPerSecondMax` that is accepted. */
export const requestsPerSecondCeiling = 1_000_000;
/** 4 PiB. The bytes that an account uses are compared with the quota as a JavaScript number, which
 *  is exact up to twice this. */
export const quotaBytesMax = 2 ** 52;
/** Azure's limit of the encryption scopes of an account. */
export const encryptionScopesMax = 10_000;

/** The settings of an account that are not configured. */
export const accountDefaults: Omit<
  AccountSettings,
  | "name"
  | "keys"
  | "roles"
  | "settingsRevision"
  | "identityRevision"
  | "encryptionScopes"
  | "subscriptions"
> = {
  versioning: false,
  containerSoftDeleteDays: 0,
  shareSoftDeleteDays: 0,
  publicAccess: true,
  sharedKey: true,
  lastAccessTracking: false,
  deletedNameSeconds: 0,
  hierarchicalNamespace: false,
  requestsPerSecondMax: 0,
  quotaBytes: 0,
  smb: { requireEncryption: false },
  changeFeed: false,
  changeFeedRetentionDays: 0,
};

export function developmentAccount(): AccountSettings {
  return { name: developmentAccountName, keys: [developmentAccountKey], ...accountDefaults };
}

/** Whether the only account is the development account with its published key, so that there is no
 *  secret to protect. */
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
