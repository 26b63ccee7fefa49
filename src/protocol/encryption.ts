import { decodeBase64 } from "../base/base64.ts";
import { invalidHeader, missingHeader } from "./faults.ts";
import { isHeaderText } from "./header-text.ts";
import type { Param, ParamReader } from "./params.ts";
import { ok, type Result } from "./result.ts";

/** A customer-provided key. Clients send it with every request; it is never stored. */
export interface ClientKey {
  readonly key: Uint8Array;
  /** The hash of the key that the client sent; `http/client-key.ts` checks it. */
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
const scopeHeader = "x-ms-encryption-scope";
const keyBytes = 32;
const clientKeyHeaders = [keyHeader, sha256Header, algorithmHeader] as const;
const unencrypted = ok<Encryption>({ clientKey: undefined, scope: undefined });

/** The encryption headers of an operation that reads or writes content. The parameter must be named
 *  `encryption`, because `http/client-key.ts` and `operation/run.ts` read it by this name. */
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
    // The scope is returned in a header. A part of a batch may contain any text, so the text is
    // checked.
    if (scope !== undefined && (both || !isHeaderText(scope))) {
      return invalidHeader(scopeHeader, scope);
    }
    return ok({ clientKey: clientKey.value, scope });
  },
};

/** As `encryption`, for operations that read properties. The algorithm alone, without key and hash,
 *  is ignored (recorded). In a write this would store plain bytes that the client believes to be
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
