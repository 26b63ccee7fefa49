/** Removes signatures, tokens and keys from texts before they get into a log or a trace. */

/** Headers whose values are credentials or keys and must not be logged. */
const secretHeaders = [
  "authorization",
  "x-ms-copy-source-authorization",
  "x-ms-encryption-key",
  "x-ms-source-encryption-key",
];

const hidden = "***";
/** Most characters (UTF-16 code units) of a text in the log; the rest is cut, so that one request
 *  cannot fill it. */
const loggedUnitsMax = 8 * 1024;
/** Matches a signature in a URL, also in a URL inside another one, whose delimiters are
 *  percent-encoded. */
const signatureInUrl = /((?:\b|%26|%3f)sig(?:=|%3d))[^&\s'"]*/gi;
const signatureLine = /^(sig:).*$/gim;
const headerLine = new RegExp(`^((?:${secretHeaders.join("|")}):).*$`, "gim");
/** The service's message that contains the received signature. */
const foundSignature = /(found in the HTTP request ')[^']*/g;

/** Replaces the value of every `sig` parameter in a URL or a text that contains URLs. */
export function maskSignatures(text: string): string {
  return text.replaceAll(signatureInUrl, `$1${hidden}`);
}

/** The text without signatures, tokens and keys, cut to a bounded length. */
export function withoutSecrets(text: string): string {
  const plain = maskSignatures(text)
    .replaceAll(signatureLine, `$1${hidden}`)
    .replaceAll(headerLine, `$1${hidden}`)
    .replaceAll(foundSignature, `$1${hidden}`);
  return plain.length > loggedUnitsMax ? `${plain.slice(0, loggedUnitsMax)}…` : plain;
}

/** The XML elements of a fault (HeaderName and HeaderValue, for example) for the log. */
export function elementsForLog(
  elements: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const name = elements["HeaderName"] ?? elements["QueryParameterName"] ?? "";
  const isSecret = [...secretHeaders, "sig"].includes(name.toLowerCase());
  const shown: Record<string, string> = {};
  for (const [key, value] of Object.entries(elements)) {
    const isValue = key === "HeaderValue" || key === "QueryParameterValue";
    shown[key] = isSecret && isValue ? hidden : withoutSecrets(value);
  }
  return shown;
}
