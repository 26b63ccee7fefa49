import type { ServiceName } from "../service-name.ts";
import { canonicalHeaders } from "./canonical-headers.ts";
import { canonicalResource, canonicalResourceLite } from "./canonical-resource.ts";
import { asciiOrder, serviceOrder, type HeaderOrder } from "./header-order.ts";
import type { SignableRequest } from "./request.ts";

/** The two schemes of Shared Key.
 *  learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key */
export type SharedKeyScheme = "SharedKey" | "SharedKeyLite";

/** A variant of the string to sign, because client libraries differ in details. */
// The order of the `x-ms-` headers.
export interface StringToSignVariant {
  readonly order: HeaderOrder;
  /** Whether Content-Language is signed before Content-Encoding, as one library does. */
  readonly languageFirst: boolean;
}

/** The variants that are tried. The documented variant is the first, because nearly all clients use
 *  it. */
export const stringToSignVariants: readonly StringToSignVariant[] = [
  { order: serviceOrder, languageFirst: false },
  { order: serviceOrder, languageFirst: true },
  { order: asciiOrder, languageFirst: false },
  { order: asciiOrder, languageFirst: true },
];

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

/** Empty if x-ms-date is sent, because that is signed with the other headers. */
function dateLine(request: SignableRequest): string {
  return request.header("x-ms-date") === undefined ? signed(request, "date") : "";
}

function contentLength(request: SignableRequest): string {
  const length = signed(request, "content-length");
  const zeroCounts = request.version !== undefined && request.version < emptyLengthSince;
  return length === "0" && !zeroCounts ? "" : length;
}
