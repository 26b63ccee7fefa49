import { createSecretKey, type KeyObject } from "node:crypto";
import { formatIsoSeconds } from "../../base/dates.ts";
import { sign } from "./shared-key.ts";
import type { DelegationRequest } from "../../protocol/principal.ts";

/** Keys with which a user with a bearer token signs SAS tokens (user delegation SAS).
 *  `account/user-delegation-key.ts` issues them; `sas.ts` derives them again to verify one. */

/** The fields of a user delegation key. Its value is derived from them and from the account key. */
interface DelegationKeyFields extends DelegationRequest {
  readonly objectId: string;
  readonly tenantId: string;
}

/** Longest validity of a user delegation key in Azure. */
export const delegationKeyDaysMax = 7;

/** The `Value` of a user delegation key, in Base64. It is derived and not stored: no record is
 *  needed to verify a token, and replacing the account's first key revokes all delegation keys. */
export function delegationKeyValue(accountKey: KeyObject, fields: DelegationKeyFields): string {
  // The key is signed with times in full seconds: client libraries send them back without
  // fractions.
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

/** Like `delegationKeyValue`, for an account key in Base64, as the configuration has it. */
export function delegationKeyValueFrom(accountKey: string, fields: DelegationKeyFields): string {
  return delegationKeyValue(createSecretKey(Buffer.from(accountKey, "base64")), fields);
}
