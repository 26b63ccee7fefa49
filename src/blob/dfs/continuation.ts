import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import { isListedPath } from "../../protocol/names.ts";
import { query, type Param } from "../../protocol/params.ts";
import { ok } from "../../protocol/result.ts";

/** Continuation tokens of the Data Lake API, with which a client requests the rest of a listing or
 *  of a change in portions. */

/** What a continuation token names: a whole path, or an entry of the listed directory. */
interface Place {
  readonly path: string;
  readonly isEntry: boolean;
}

/** Formats a continuation token as the service does: checksum, kind and path in Base64. The
 *  checksum is not verified, so it is 0; kind 1 is a whole path. Clients must not interpret tokens,
 *  but Hadoop makes its own, with kind 0 and the name of an entry of the directory, to begin a
 *  listing there. */
export function continuationOf(path: string): string {
  return encodeBase64(Buffer.from(`0 1 ${path}`, "utf8"));
}

/** The form that `continuationOf` writes; tokens of Hadoop may have a checksum. */
const form = /^-?\d{1,20} ([01]) ([^]+)$/;

/** The form of continuation tokens on flat accounts: a directory, a path and a date in Base64, each
 *  with its length. Hadoop itself writes tokens of this form, to begin a listing at a name. */
const flatToken = /^2!\d{1,6}!([\w+/]+)(-{0,2})$/;
const flatForm = /^\d{6}!.*?!\d{6}!([^!]+)!\d{6}![^!]*!$/s;

function placeOf(token: string): Place | undefined {
  const [, text, padding = ""] = flatToken.exec(token) ?? [];
  if (text !== undefined) return flatPlaceOf(`${text}${padding.replaceAll("-", "=")}`);
  const bytes = decodeBase64(token);
  if (bytes === undefined) return undefined;
  const [, kind, path = ""] = form.exec(Buffer.from(bytes).toString("utf8")) ?? [];
  if (path === "" || !isListedPath(path)) return undefined;
  return { path, isEntry: kind === "0" };
}

function flatPlaceOf(encoded: string): Place | undefined {
  const bytes = decodeBase64(encoded);
  const [, path = ""] = flatForm.exec(Buffer.from(bytes ?? []).toString("utf8")) ?? [];
  return path !== "" && isListedPath(path) ? { path, isEntry: false } : undefined;
}

/** The whole path in a continuation token; undefined if malformed, or the name of an entry. */
function pathOf(token: string): string | undefined {
  const place = placeOf(token);
  return place?.isEntry === false ? place.path : undefined;
}

/** The parameter `continuation` of operations that continue with a whole path. */
export const continuation = query("continuation", pathOf);

/** The parameter `continuation` of Set Access Control Recursive. `path` is undefined if the token
 *  is malformed: the service then changes nothing and reports a success with counts of 0. */
export const anyContinuation: Param<{ readonly path: string | undefined } | undefined> = {
  sources: ["?continuation"],
  parse: (reader) => {
    const token = reader.query("continuation");
    return ok(token === undefined || token === "" ? undefined : { path: pathOf(token) });
  },
};

/** The parameter `continuation` of a listing of paths, which may also name an entry. */
export const listingContinuation = query("continuation", placeOf);

export const continuationHeader = "x-ms-continuation";
