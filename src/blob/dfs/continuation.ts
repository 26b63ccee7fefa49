import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import { isListedPath } from "../../protocol/names.ts";
import { query } from "../../protocol/params.ts";

/** The position at which a listing continues: a whole path, or the name of an entry of the listed
 *  directory. */
export interface Place {
  readonly path: string;
  readonly isEntry: boolean;
}

/** Formats a continuation token: the next path in Base64, as in the service. Clients must not
 *  interpret it. */
export function continuationOf(path: string): string {
  return encodeBase64(Buffer.from(`0 1 ${path}`, "utf8"));
}

const form = /^-?\d{1,20} ([01]) ([^]+)$/;

function placeOf(token: string): Place | undefined {
  const bytes = decodeBase64(token);
  if (bytes === undefined) return undefined;
  const [, kind, path = ""] = form.exec(Buffer.from(bytes).toString("utf8")) ?? [];
  if (path === "" || !isListedPath(path)) return undefined;
  return { path, isEntry: kind === "0" };
}

/** The path in a token; undefined if it is malformed. */
function pathOf(token: string): string | undefined {
  const place = placeOf(token);
  return place?.isEntry === false ? place.path : undefined;
}

/** The parameter `continuation` of operations that continue with a whole path. */
export const continuation = query("continuation", pathOf);

/** The parameter `continuation` of a listing of paths, which may also name an entry. */
export const listingContinuation = query("continuation", placeOf);

export const continuationHeader = "x-ms-continuation";
