import { encodeBase64 } from "../../base/base64.ts";
import type { Encryption } from "../../protocol/encryption.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";
import type { BlobRecord, ContainerRecord } from "../records.ts";

/** With which key, or under which scope, the bytes of a record are encrypted. */
export type BlobEncryption = Pick<BlobRecord, "keySha256" | "encryptionScope">;

export const encryptionHeaderNames = [
  "x-ms-encryption-key-sha256",
  "x-ms-encryption-scope",
] as const;

/** What the writes answer that create a blob without a body. */
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

/** What a write that creates a blob or a block seals it with: the client's key, the scope it names,
 *  or that of the container, which may insist. */
export function chooseEncryption(
  { clientKey, scope }: Encryption,
  { defaultEncryptionScope, denyEncryptionScopeOverride }: ContainerRecord,
): Result<BlobEncryption> {
  const insists = denyEncryptionScopeOverride === true && defaultEncryptionScope !== undefined;
  const deviates =
    clientKey !== undefined || (scope ?? defaultEncryptionScope) !== defaultEncryptionScope;
  if (insists && deviates) return fail("RequestForbiddenByContainerEncryptionPolicy");
  if (clientKey !== undefined) return ok({ keySha256: clientKey.sha256 });
  const encryptionScope = scope ?? defaultEncryptionScope;
  return ok(encryptionScope === undefined ? {} : { encryptionScope });
}

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
