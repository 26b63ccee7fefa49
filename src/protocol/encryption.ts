import { decodeBase64 } from "../base/base64.ts";
import { invalidHeader, missingHeader } from "./faults.ts";
import { isHeaderText } from "./header-text.ts";
import type { Param, ParamReader } from "./params.ts";
import { ok, type Result } from "./result.ts";

/** A customer-provided key: sent with every request and never stored. */
export interface ClientKey {
  readonly key: Uint8Array;
  /** The hash that the client sent; compared with the key in `http/client-key.ts`. */
  readonly sha256: Uint8Array;
}

export interface Encryption {
  readonly clientKey: ClientKey | undefined;
  /** Name of an encryption scope, whose key belongs to the service. */
  readonly scope: string | undefined;
}

const keyHeader = "x-ms-encryption-key";
const sha256Header = "x-ms-encryption-key-sha256";
const algorithmHeader = "x-ms-encryption-algorithm";
const scopeHeader = "x-ms-encryption-scope";
const keyBytes = 32;
const clientKeyHeaders = [keyHeader, sha256Header, algorithmHeader] as const;
const unencrypted = ok<Encryption>({ clientKey: undefined, scope: undefined });

/** For operations that read or write bytes that may be encrypted with a customer-provided key. The
 *  parameter must be named `encryption`: `http/client-key.ts` reads it under this name. */
export const encryption: Param<Encryption> = {
  sources: [keyHeader, sha256Header, algorithmHeader, scopeHeader],
  parse: (reader) => {
    if (clientKeyHeaders.every((name) => !reader.header(name)) && !reader.header(scopeHeader)) {
      return unencrypted;
    }
    const clientKey = parseClientKey(reader);
    if (!clientKey.ok) return clientKey;
    const scope = reader.header(scopeHeader) || undefined;
    const both = scope !== undefined && clientKey.value !== undefined;
    // A part of a batch may contain any text, but the scope is returned in a header.
    if (scope !== undefined && (both || !isHeaderText(scope))) {
      return invalidHeader(scopeHeader, scope);
    }
    return ok({ clientKey: clientKey.value, scope });
  },
};

/** As `encryption`, for reading properties: without a key and its hash the algorithm alone is
 *  ignored (recorded). For a write this would store plain bytes that the client believes to be
 *  encrypted. */
export const encryptionOfProperties: Param<Encryption> = {
  sources: encryption.sources,
  parse: (reader) => {
    const isKeyless = !reader.header(keyHeader) && !reader.header(sha256Header);
    const isAlgorithmAlone = isKeyless && reader.header(algorithmHeader) !== undefined;
    return encryption.parse(isAlgorithmAlone ? withoutAlgorithm(reader) : reader);
  },
};

function withoutAlgorithm(reader: ParamReader): ParamReader {
  const header = (name: string) => (name === algorithmHeader ? undefined : reader.header(name));
  return { ...reader, header };
}

/** Requires all three headers or none. */
function parseClientKey(reader: ParamReader): Result<ClientKey | undefined> {
  const headers = clientKeyHeaders;
  if (headers.every((name) => !reader.header(name))) return ok(undefined);
  for (const name of headers) if (!reader.header(name)) return missingHeader(name);
  const [keyText = "", sha256Text = "", algorithm = ""] = headers.map((name) =>
    reader.header(name),
  );
  if (algorithm !== "AES256") return invalidHeader(algorithmHeader, algorithm);
  const key = decodeBase64(keyText);
  // A key must not be returned to the client, not even an invalid one.
  if (key?.length !== keyBytes) return invalidHeader(keyHeader, "");
  const sha256 = decodeBase64(sha256Text);
  if (sha256?.length !== keyBytes) return invalidHeader(sha256Header, sha256Text);
  return ok({ key, sha256 });
}
