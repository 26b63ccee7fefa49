import type { ServiceName } from "../names.ts";
import type { SignableRequest } from "./request.ts";

/** The strings that clients sign with an account key. `http/auth/shared-key.ts` signs them, too,
 *  and compares; the admin API signs its own requests with them. */

/** Compares two header names, to sort them before signing. */
type HeaderOrder = (left: string, right: string) => number;

const byWeight = "!#$%&*.^_`|~+0123456789abcdefghijklmnopqrstuvwxyz";
const asciiCount = 128;
/** The weight of each ASCII character in the order of the service (`serviceOrder`); 0: ignored in
 *  the comparison. */
const weights = Uint8Array.from(
  { length: asciiCount },
  (_, code) => byWeight.indexOf(String.fromCharCode(code)) + 1,
);

/** The order of the service: punctuation before digits and letters; hyphens are ignored unless the
 *  names are otherwise equal. So `x-ms-meta-ab` comes before `x-ms-meta-a-c`, unlike in ASCII
 *  order. */
export const serviceOrder: HeaderOrder = (left, right) => {
  let i = 0;
  let j = 0;
  while (i < left.length || j < right.length) {
    const leftWeight = i < left.length ? weightAt(left, i) : -1;
    const rightWeight = j < right.length ? weightAt(right, j) : -1;
    if (leftWeight === 0) i += 1;
    else if (rightWeight === 0) j += 1;
    else if (leftWeight !== rightWeight) return leftWeight - rightWeight;
    else {
      i += 1;
      j += 1;
    }
  }
  return byFirstHyphen(left, right);
};

/** The order of ASCII codes, in which some client libraries sort the headers that they sign. */
export const asciiOrder: HeaderOrder = (left, right) => (left < right ? -1 : left > right ? 1 : 0);

/** Compares names that differ only in hyphens: the name whose first extra hyphen comes later is
 *  first. */
function byFirstHyphen(left: string, right: string): number {
  const length = Math.max(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    if (left[index] === right[index]) continue;
    return isWeightless(left, index) ? 1 : -1;
  }
  return 0;
}

function isWeightless(text: string, index: number): boolean {
  return index < text.length && weightAt(text, index) === 0;
}

function weightAt(text: string, index: number): number {
  return weights[text.charCodeAt(index)] ?? 0;
}

/** The two schemes of Shared Key.
 *  learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key */
export type SharedKeyScheme = "SharedKey" | "SharedKeyLite";

/** A variant of the string to sign, because client libraries differ in details. */
interface StringToSignVariant {
  /** The order of the `x-ms-` headers. */
  readonly order: HeaderOrder;
  /** Whether Content-Language is signed before Content-Encoding, as one library does. */
  readonly languageFirst: boolean;
}

/** The variants that are tried. The documented one is the first, as nearly all clients use it. */
export const stringToSignVariants: readonly StringToSignVariant[] = [
  { order: serviceOrder, languageFirst: false },
  { order: serviceOrder, languageFirst: true },
  { order: asciiOrder, languageFirst: false },
  { order: asciiOrder, languageFirst: true },
];

/** The string to sign of a request, which depends on the service and the scheme. */
export function sharedKeyText(
  request: SignableRequest,
  service: ServiceName,
  scheme: SharedKeyScheme,
  variant: StringToSignVariant,
): string {
  if (service === "table") return tableText(request, scheme);
  return scheme === "SharedKey" ? fullText(request, variant) : liteText(request, variant);
}

/** The first version that signs a length of zero as an empty string; earlier ones sign `0`. */
const emptyLengthSince = "2015-02-21";

function fullText(request: SignableRequest, { order, languageFirst }: StringToSignVariant): string {
  const encoding = signed(request, "content-encoding");
  const language = signed(request, "content-language");
  return (
    `${request.method}\n` +
    (languageFirst ? `${language}\n${encoding}\n` : `${encoding}\n${language}\n`) +
    `${contentLength(request)}\n${signed(request, "content-md5")}\n` +
    `${signed(request, "content-type")}\n${dateLine(request)}\n` +
    `${signed(request, "if-modified-since")}\n${signed(request, "if-match")}\n` +
    `${signed(request, "if-none-match")}\n${signed(request, "if-unmodified-since")}\n` +
    `${signed(request, "range")}\n${canonicalHeaders(request, order)}${canonicalResource(request)}`
  );
}

function liteText(request: SignableRequest, { order }: StringToSignVariant): string {
  return (
    `${request.method}\n${signed(request, "content-md5")}\n${signed(request, "content-type")}\n` +
    `${dateLine(request)}\n${canonicalHeaders(request, order)}${canonicalResourceLite(request)}`
  );
}

/** Tables sign no `x-ms-` headers; x-ms-date is in the date line instead. */
function tableText(request: SignableRequest, scheme: SharedKeyScheme): string {
  const date = request.header("x-ms-date") ?? signed(request, "date");
  const resource = canonicalResourceLite(request);
  if (scheme === "SharedKeyLite") return `${date}\n${resource}`;
  return (
    `${request.method}\n${signed(request, "content-md5")}\n${signed(request, "content-type")}\n` +
    `${date}\n${resource}`
  );
}

function signed(request: SignableRequest, name: string): string {
  return request.header(name) ?? "";
}

/** The line of the Date header. It is empty if x-ms-date is sent, because that is signed with the
 *  other `x-ms-` headers. */
function dateLine(request: SignableRequest): string {
  return request.header("x-ms-date") === undefined ? signed(request, "date") : "";
}

function contentLength(request: SignableRequest): string {
  const length = signed(request, "content-length");
  const zeroCounts = request.version !== undefined && request.version < emptyLengthSince;
  return length === "0" && !zeroCounts ? "" : length;
}

/** From this version on, a header with an empty value is signed like any other. */
const emptyHeadersSince = "2016-05-31";

/** The part of a string to sign with the `x-ms-` headers: one line `name:value` for each, sorted
 *  with `order`. */
function canonicalHeaders(request: SignableRequest, order: HeaderOrder): string {
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

/** The part of a string to sign with account, path and query: the path as sent, then every query
 *  parameter in a line. A path-style URL contains the account, which therefore occurs twice:
 *  `/devstoreaccount1/devstoreaccount1/photos\ncomp:list\nrestype:container`. */
export function canonicalResource(request: SignableRequest): string {
  let text = `/${request.account}${request.rawPath === "" ? "/" : request.rawPath}`;
  const parameters = grouped(request.query);
  const names = [...parameters.keys()];
  if (names.length > 1) names.sort();
  for (const name of names) text += `\n${name}:${joined(parameters.get(name) ?? [])}`;
  return text;
}

/** As `canonicalResource`, in the older format, which tables use too: of the query only `comp` is
 *  signed. */
function canonicalResourceLite(request: SignableRequest): string {
  const path = `/${request.account}${request.rawPath === "" ? "/" : request.rawPath}`;
  const comp = request.query.get("comp")?.[0];
  return comp === undefined ? path : `${path}?comp=${comp}`;
}

/** Merges names that differ only in case. A query without such names is not copied. */
function grouped(
  query: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, readonly string[]> {
  let lowerAlready = true;
  for (const name of query.keys()) if (name !== name.toLowerCase()) lowerAlready = false;
  if (lowerAlready) return query;
  const groups = new Map<string, readonly string[]>();
  for (const [name, values] of query) {
    const lower = name.toLowerCase();
    groups.set(lower, [...(groups.get(lower) ?? []), ...values]);
  }
  return groups;
}

function joined(values: readonly string[]): string {
  return values.length === 1 ? (values[0] ?? "") : values.toSorted().join(",");
}
