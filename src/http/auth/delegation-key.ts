import { createSecretKey, type KeyObject } from "node:crypto";
import { formatIsoSeconds } from "../../base/dates.ts";
import type { Ticks } from "../../base/ticks.ts";
import { sign } from "./key-ring.ts";

/** The fields of a user delegation key; its value is derived from these and the account key. */
export interface DelegationKeyFields {
  readonly objectId: string;
  readonly tenantId: string;
  readonly start: Ticks;
  readonly expiry: Ticks;
  /** `b`, `q` or `f`. */
  readonly service: string;
  readonly version: string;
  /** The tenant of the user that tokens are limited to; empty without a limit. */
  readonly delegatedUserTenantId: string;
}

/** Get User Delegation Key rejects a longer validity. */
export const delegationKeyDaysMax = 7;

/** The `Value` of a user delegation key, Base64. It is derived instead of stored: no record is
 *  needed to verify a token, and replacing the account's first key revokes all. */
export function delegationKeyValue(accountKey: KeyObject, fields: DelegationKeyFields): string {
  // Client libraries return the times in full seconds.
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

/** As `delegationKeyValue`, for a key in the form of the configuration. */
export function delegationKeyValueFrom(accountKey: string, fields: DelegationKeyFields): string {
  return delegationKeyValue(createSecretKey(Buffer.from(accountKey, "base64")), fields);
}
