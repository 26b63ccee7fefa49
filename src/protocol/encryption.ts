import { decodeBase64 } from "../base/base64.ts";
import { invalidHeader, missingHeader } from "./faults.ts";
import type { Param, ParamReader } from "./params.ts";
import { ok, type Result } from "./result.ts";

/** The encryption headers of a request: a key that the client provides, or the name of an
 *  encryption scope. `http/request/body.ts` encrypts with them what is stored. */

/** A customer-provided key. Clients send it with every request; it is never stored. */
export interface ClientKey {
  readonly key: Uint8Array;
  /** The hash of the key that the client sent; `http/request/body.ts` checks it. */
  readonly sha256: Uint8Array;
}

/** How a request encrypts the content that it reads or writes. At most one of the two is set. */
export interface Encryption {
  readonly clientKey: ClientKey | undefined;
  /** Name of an encryption scope. Its key is managed by the service, not sent by the client. */
  readonly scope: string | undefined;
}

const keyHeader = "x-ms-encryption-key";
const sha256Header = "x-ms-encryption-key-sha256";
const algorithmHeader = "x-ms-encryption-algorithm";
export const scopeHeader = "x-ms-encryption-scope";
const keyBytes = 32;
/** Recorded from Azure: up to this x-ms-version an algorithm without key and hash is ignored
 *  everywhere. The libraries of that time sent it with every request. */
const algorithmIgnoredUntil = "2020-08-04";
const clientKeyHeaders = [keyHeader, sha256Header, algorithmHeader] as const;
const unencrypted = ok<Encryption>({ clientKey: undefined, scope: undefined });

/** The name with which a client asks for no encryption scope: the content is encrypted with the key
 *  of the account. */
export const accountScope = "$account-encryption-key";
/** Names of Azure's encryption scopes: 3 to 63 letters, digits and hyphens. */
const scopeForm = /^[A-Za-z0-9][A-Za-z0-9-]{1,61}[A-Za-z0-9]$/;

export function isScopeName(text: string): boolean {
  return scopeForm.test(text);
}

/** Parses a header with the name of a scope; undefined if it names none. */
export function parseScope(reader: Pick<ParamReader, "header">, name: string) {
  const text = reader.header(name) || undefined;
  if (text === undefined || text === accountScope) return ok(undefined);
  return isScopeName(text) ? ok(text) : invalidHeader(name, text);
}

/** The encryption headers of an operation that reads or writes content. */
export const encryption: Param<Encryption> = {
  role: "encryption",
  sources: [keyHeader, sha256Header, algorithmHeader, scopeHeader],
  parse: (reader) => {
    if (clientKeyHeaders.every((name) => !reader.header(name)) && !reader.header(scopeHeader)) {
      return unencrypted;
    }
    if (reader.version <= algorithmIgnoredUntil && isAlgorithmAlone(reader)) {
      return encryption.parse(withoutAlgorithm(reader));
    }
    const clientKey = parseClientKey(reader);
    if (!clientKey.ok) return clientKey;
    const scope = parseScope(reader, scopeHeader);
    if (!scope.ok) return scope;
    if (scope.value !== undefined && clientKey.value !== undefined) {
      return invalidHeader(scopeHeader, scope.value);
    }
    return ok({ clientKey: clientKey.value, scope: scope.value });
  },
};

/** Like `encryption`, for copies, which can be encrypted in a scope, but not with a
 *  customer-provided key. */
export const encryptionScope: Param<Encryption> = {
  role: "encryption",
  sources: [scopeHeader],
  parse: (reader) => {
    const scope = parseScope(reader, scopeHeader);
    return scope.ok ? ok({ clientKey: undefined, scope: scope.value }) : scope;
  },
};

/** As `encryption`, for operations that read properties. The algorithm alone, without key and hash,
 *  is ignored (recorded from Azure). In a write this would store plain bytes that the client
 *  believes to be encrypted. */
export const encryptionOfProperties: Param<Encryption> = {
  role: "encryption",
  sources: encryption.sources,
  parse: (reader) => {
    return encryption.parse(isAlgorithmAlone(reader) ? withoutAlgorithm(reader) : reader);
  },
};

function isAlgorithmAlone(reader: ParamReader): boolean {
  const isKeyless = !reader.header(keyHeader) && !reader.header(sha256Header);
  return isKeyless && !!reader.header(algorithmHeader);
}

function withoutAlgorithm(reader: ParamReader): ParamReader {
  const header = (name: string) => (name === algorithmHeader ? undefined : reader.header(name));
  return {
    version: reader.version,
    header,
    query: (name) => reader.query(name),
    headersWith: (prefix) => reader.headersWith(prefix),
  };
}

/** Parses the three headers of a customer-provided key. All must be sent, or none. */
function parseClientKey(reader: ParamReader): Result<ClientKey | undefined> {
  const headers = clientKeyHeaders;
  if (headers.every((name) => !reader.header(name))) return ok(undefined);
  for (const name of headers) if (!reader.header(name)) return missingHeader(name);
  const [keyText = "", sha256Text = "", algorithm = ""] = headers.map((name) =>
    reader.header(name),
  );
  if (algorithm !== "AES256") return invalidHeader(algorithmHeader, algorithm);
  const key = decodeBase64(keyText);
  // The fault must not contain the key, not even an invalid one.
  if (key?.length !== keyBytes) return invalidHeader(keyHeader, "");
  const sha256 = decodeBase64(sha256Text);
  if (sha256?.length !== keyBytes) return invalidHeader(sha256Header, sha256Text);
  return ok({ key, sha256 });
}
