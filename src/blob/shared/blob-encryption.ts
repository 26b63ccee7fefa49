import { encodeBase64 } from "../../base/base64.ts";
import type { Encryption } from "../../protocol/encryption.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobRecord, ContainerRecord } from "../records.ts";

/** How a record is encrypted: with a customer-provided key, or in an encryption scope. Empty: with
 *  the key of the account. */
export type BlobEncryption = Pick<BlobRecord, "keySha256" | "encryptionScope">;

export const encryptionHeaderNames = [
  "x-ms-encryption-key-sha256",
  "x-ms-encryption-scope",
] as const;

/** Response headers of operations that create a blob without a body. */
export const createReplyHeaders = [
  "x-ms-request-server-encrypted",
  "x-ms-version-id",
  ...encryptionHeaderNames,
] as const;

export function encryptionHeaders({ keySha256, encryptionScope }: BlobEncryption) {
  return {
    "x-ms-encryption-key-sha256": keySha256 && encodeBase64(keySha256),
    "x-ms-encryption-scope": encryptionScope,
  };
}

/** Chooses the encryption of a new blob or block: the customer-provided key, the scope in the
 *  request, or the default scope of the container, which the container may enforce. */
export function chooseEncryption(
  { clientKey, scope }: Encryption,
  { defaultEncryptionScope, denyEncryptionScopeOverride }: ContainerRecord,
): Result<BlobEncryption> {
  const isEnforced = denyEncryptionScopeOverride === true && defaultEncryptionScope !== undefined;
  const differs =
    clientKey !== undefined || (scope ?? defaultEncryptionScope) !== defaultEncryptionScope;
  if (isEnforced && differs) return fail("RequestForbiddenByContainerEncryptionPolicy");
  if (clientKey !== undefined) return ok({ keySha256: clientKey.sha256 });
  const encryptionScope = scope ?? defaultEncryptionScope;
  return ok(encryptionScope === undefined ? {} : { encryptionScope });
}

/** Compares the hash of the key of a request with that of a blob; a fault if they differ or only
 *  one exists. */
export function compareKeys(
  stored: Uint8Array | undefined,
  given: Uint8Array | undefined,
): Result<void> {
  if (stored === undefined && given === undefined) return ok(undefined);
  if (given === undefined) return fail("BlobUsesCustomerSpecifiedEncryption");
  if (stored === undefined) return fail("BlobDoesNotUseCustomerSpecifiedEncryption");
  const same = Buffer.compare(stored, given) === 0;
  return same ? ok(undefined) : fail("BlobCustomerSpecifiedEncryptionMismatch");
}
