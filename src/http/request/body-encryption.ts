import { createHash } from "node:crypto";
import type { Awaitable } from "../../base/awaitable.ts";
import type { BodyEncryption, ContentStore } from "../../content/content.ts";
import type { Call } from "../../operation/execute.ts";
import { newId } from "../../operation/identifiers.ts";
import { inputWithRole, type Operation } from "../../operation/operation.ts";
import { Records } from "../../operation/records.ts";
import type { Runtime } from "../../operation/work.ts";
import { isScopeName, scopeHeader, type ClientKey } from "../../protocol/encryption.ts";
import { invalidHeader, invalidQuery } from "../../protocol/faults.ts";
import type { Principal } from "../../protocol/principal.ts";
import { fail, ok, type Result } from "../../protocol/result.ts";

/** Checks that a customer-provided key matches its hash, and that the encryption scope matches that
 *  of the SAS. */
export function checkEncryption(
  operation: Operation,
  input: object,
  principal: Principal,
): Result<object> {
  const field = operation.roles?.encryption;
  const encryption = inputWithRole(operation, input, "encryption");
  if (field === undefined || encryption === undefined) return ok(input);
  const { clientKey, scope } = encryption;
  if (clientKey !== undefined && !hasHash(clientKey)) {
    const stated = Buffer.from(clientKey.sha256).toString("base64");
    return invalidHeader("x-ms-encryption-key-sha256", stated);
  }
  const signed = "encryptionScope" in principal ? principal.encryptionScope : undefined;
  if (signed === undefined) return ok(input);
  if (!isScopeName(signed)) return invalidQuery("ses", signed);
  if (clientKey !== undefined) return fail("AuthorizationFailure");
  // Recorded: the header must not contradict the signature.
  if (scope !== undefined && scope !== signed) return invalidHeader(scopeHeader, scope);
  return ok({ ...input, [field]: { ...encryption, scope: signed } });
}

function hasHash({ key, sha256 }: ClientKey): boolean {
  return createHash("sha256").update(key).digest().equals(sha256);
}

/** Returns the content store that encrypts received bytes with the customer-provided key, or with
 *  the key of the request's or the container's encryption scope; the one of `runtime` if there is
 *  neither. Each body gets a nonce of its own. */
export function encryptingContent(
  { store, content, random }: Runtime,
  { operation, input, resource, account, address }: EncryptedCall,
): Awaitable<ContentStore> {
  const encryption = inputWithRole(operation, input, "encryption");
  if (encryption === undefined) return content;
  const { clientKey, scope } = encryption;
  if (clientKey !== undefined) {
    return encryptedBy(content, () => ({ key: clientKey.key, nonce: newId(random) }));
  }
  const { scopeKeys } = content;
  const { contentScope } = resource;
  if (scopeKeys === undefined || contentScope === undefined) return content;
  const found = store.snapshot((view) =>
    contentScope(new Records(view, content), { account, address }, scope),
  );
  return found.then((name) =>
    name === undefined ? content : encryptedBy(content, () => scopeKeys.begin(name)),
  );
}

/** A request whose body may be encrypted. */
type EncryptedCall = Pick<Call, "operation" | "input" | "resource" | "account" | "address">;

function encryptedBy(content: ContentStore, begin: () => BodyEncryption): ContentStore {
  return {
    loop: content.loop,
    scopeKeys: content.scopeKeys,
    receive: (body, options) => content.receive(body, { ...options, encryption: begin() }),
    discard: (received) => content.discard(received),
    applyPlan: (tx, owner, before, plan) => content.applyPlan(tx, owner, before, plan),
    slices: (view, ref, from, length) => content.slices(view, ref, from, length),
    open: (view, ref, opening) => content.open(view, ref, opening),
    pin: (view) => content.pin(view),
    reclaim: () => content.reclaim(),
    close: () => content.close(),
  };
}
