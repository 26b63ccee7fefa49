import type { HeaderOrder } from "./header-order.ts";
import type { SignableRequest } from "./request.ts";

/** From this version on, a header with an empty value is signed like any other. */
const emptyHeadersSince = "2016-05-31";

/** The part of a string to sign with the `x-ms-` headers: one line `name:value` for each, sorted
 *  with `order`. */
export function canonicalHeaders(request: SignableRequest, order: HeaderOrder): string {
  const { rawHeaders, version } = request;
  const keepsEmpty = version === undefined || version >= emptyHeadersSince;
  const lines: SignedHeader[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const rawName = rawHeaders[index] ?? "";
    if (!isSigned(rawName)) continue;
    const value = (rawHeaders[index + 1] ?? "").trim();
    if (value === "" && !keepsEmpty) continue;
    lines.push({ name: rawName.toLowerCase(), value });
  }
  lines.sort((left, right) => order(left.name, right.name));
  let text = "";
  for (const { name, value } of lines) text += `${name}:${value}\n`;
  return text;
}

interface SignedHeader {
  readonly name: string;
  readonly value: string;
}

/** The name of an `x-ms-` header that occurs twice; undefined if there is none. Such a request is
 *  rejected, because it is unknown which value was signed. */
export function repeatedSignedHeader(rawHeaders: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const rawName = rawHeaders[index] ?? "";
    if (!isSigned(rawName)) continue;
    const name = rawName.toLowerCase();
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

/** Whether the name starts with `x-ms-`, in any case. Compares character codes to avoid a
 *  lower-case copy of every name: most headers are not signed. */
function isSigned(name: string): boolean {
  return (
    name.length > 5 &&
    (name.charCodeAt(0) | 0x20) === 0x78 &&
    name.charCodeAt(1) === 0x2d &&
    (name.charCodeAt(2) | 0x20) === 0x6d &&
    (name.charCodeAt(3) | 0x20) === 0x73 &&
    name.charCodeAt(4) === 0x2d
  );
}
