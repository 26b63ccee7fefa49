import { createHash } from "node:crypto";
import type { ClientKey, Encryption } from "../protocol/encryption.ts";
import { invalidHeader, invalidQuery } from "../protocol/faults.ts";
import { isHeaderText } from "../protocol/header-text.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Random } from "../base/world.ts";
import type { ContentStore } from "../content/content.ts";
import { newId } from "../operation/identifiers.ts";

/** The customer-provided key of a request; undefined if the request has none or the operation
 *  accepts none. */
export function clientKeyOf(input: object): ClientKey | undefined {
  return "encryption" in input ? (input.encryption as Encryption).clientKey : undefined;
}

/** Checks that a customer-provided key matches its hash, and that the encryption scope matches that
 *  of the SAS. */
export function checkEncryption(input: object, principal: Principal): Result<object> {
  if (!("encryption" in input)) return ok(input);
  const encryption = input.encryption as Encryption;
  const { clientKey, scope } = encryption;
  if (clientKey !== undefined && !hasHash(clientKey)) {
    const stated = Buffer.from(clientKey.sha256).toString("base64");
    return invalidHeader("x-ms-encryption-key-sha256", stated);
  }
  const signed = "encryptionScope" in principal ? principal.encryptionScope : undefined;
  if (signed === undefined) return ok(input);
  if (!isHeaderText(signed)) return invalidQuery("ses", signed);
  if (clientKey !== undefined || (scope ?? signed) !== signed) return fail("AuthorizationFailure");
  return ok({ ...input, encryption: { ...encryption, scope: signed } });
}

function hasHash({ key, sha256 }: ClientKey): boolean {
  return createHash("sha256").update(key).digest().equals(sha256);
}

/** Returns a content store that encrypts received bytes with the customer-provided key, with a new
 *  nonce for each body. */
export function encryptingContent(
  content: ContentStore,
  key: ClientKey | undefined,
  random: Random,
): ContentStore {
  if (key === undefined) return content;
  return {
    receive: (body, options) => {
      const encryption = { key: key.key, nonce: newId(random) };
      return content.receive(body, { ...options, encryption });
    },
    discard: (received) => content.discard(received),
    applyPlan: (tx, owner, before, plan) => content.applyPlan(tx, owner, before, plan),
    slices: (view, ref, from, length) => content.slices(view, ref, from, length),
    open: (view, ref, opening) => content.open(view, ref, opening),
    pin: (view) => content.pin(view),
    reclaim: () => content.reclaim(),
    close: () => content.close(),
  };
}
