import { createSecretKey } from "node:crypto";
import { developmentAccountKey, type AccountKeys } from "../../account/settings.ts";
import { isSignedBy } from "../auth/shared-key.ts";
import { decodePercent } from "../../protocol/names.ts";

/** Compares the signature of a request with those that result from known mistakes of clients, from
 *  other keys and from other spellings of the signature itself. `diagnose.ts` calls it for each
 *  request that is rejected because of its signature while the debug log (`--debug`) is written;
 *  the report goes into that log. */

/** A known mistake of clients and the string to sign that results from it. */
export type Mistake = readonly [difference: string, text: string];

/** The report on a signature that did not match. Never contains a signature or a key. */
export interface SignatureReport {
  readonly stringToSign: string;
  readonly difference: string;
}

const unexplained =
  "no common mistake explains the signature: compare the string to sign and the account key with " +
  "those of the client";

/** Limit of the total length of the strings that are signed for one report. A request can have
 *  1,000 headers, and for each of them there is a string without it. */
const triedUnitsMax = 512 * 1024;

/** Finds the mistake that reproduces the signature of the client: signs each candidate text with
 *  the keys of the account until one matches. */
export function explainSignature(
  stringToSign: string,
  mistakes: Iterable<Mistake>,
  { keys, signature }: { readonly keys: AccountKeys; readonly signature: string },
): SignatureReport {
  const report = (difference: string) => ({ stringToSign, difference });
  const secrets = keys.map((key) => createSecretKey(Buffer.from(key, "base64")));
  const matches = (text: string) => secrets.some((key) => isSignedBy(key, text, signature));
  for (const [name, key] of otherKeys(keys)) {
    if (isSignedBy(createSecretKey(key), stringToSign, signature)) return report(name);
  }
  for (const [name, spelling] of otherSpellings(signature)) {
    if (secrets.some((key) => isSignedBy(key, stringToSign, spelling))) return report(name);
  }
  let triedUnits = 0;
  for (const [difference, text] of mistakes) {
    if (matches(text)) return report(difference);
    triedUnits += text.length;
    if (triedUnits > triedUnitsMax) break;
  }
  return report(unexplained);
}

function* otherKeys(keys: AccountKeys): Iterable<readonly [name: string, key: Buffer]> {
  const development = Buffer.from(developmentAccountKey, "base64");
  yield ["the key of the development account was used", development];
  const difference = "the key was used as text, without decoding base64";
  for (const key of keys) yield [difference, Buffer.from(key, "utf8")];
}

function* otherSpellings(signature: string): Iterable<readonly [name: string, text: string]> {
  yield ["the signature has spaces where plus signs belong", signature.replaceAll(" ", "+")];
  yield ["the signature is percent-encoded once too often", decoded(signature)];
  const plain = signature.replaceAll("-", "+").replaceAll("_", "/");
  yield ["the signature is in the URL form of base64", plain.padEnd(44, "=")];
}

export function decoded(text: string): string {
  return decodePercent(text) ?? text;
}
