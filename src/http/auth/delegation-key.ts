import { createSecretKey, type KeyObject } from "node:crypto";
import { formatIsoSeconds } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import { sign } from "./key-ring.ts";

/** What identifies a user delegation key; its value follows from these and the account's key. */
export interface DelegationKeyFields {
  readonly objectId: string;
  readonly tenantId: string;
  readonly start: Ticks;
  readonly expiry: Ticks;
  /** `b`, `q` or `f`. */
  readonly service: string;
  readonly version: string;
  /** The tenant of the user the tokens are limited to; empty if there is no such limit. */
  readonly delegatedUserTenantId: string;
}

/** Longer keys are refused by Get User Delegation Key. */
export const delegationKeyDaysMax = 7;

/**
 * The `Value` of a user delegation key, Base64. It is derived instead of stored: no record has to
 * be kept for a key to be recognised later, and replacing the account's first key revokes all.
 */
export function delegationKeyValue(accountKey: KeyObject, fields: DelegationKeyFields): string {
  // Client libraries give the times back in whole seconds, whatever they were given.
  return sign(
    accountKey,
    [
      "user delegation key",
      fields.objectId,
      fields.tenantId,
      formatIsoSeconds(fields.start),
      formatIsoSeconds(fields.expiry),
      fields.service,
      fields.version,
      fields.delegatedUserTenantId,
    ].join("\n"),
  );
}

/** The same for a key as the configuration spells it, for Get User Delegation Key. */
export function delegationKeyValueFrom(accountKey: string, fields: DelegationKeyFields): string {
  return delegationKeyValue(createSecretKey(Buffer.from(accountKey, "base64")), fields);
}
