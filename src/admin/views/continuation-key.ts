import { decodeBase64 } from "../../base/base64.ts";
import { compareKeys } from "../../encoding/keys.ts";
import { refuse, type AdminResponse } from "../admin-response.ts";

interface Bounds {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

/** The key after which a list continues, from the query. It must be a key of the listed table. */
export function parseContinuationKey(
  query: URLSearchParams,
  { start, end }: Bounds,
): { readonly key: Uint8Array | undefined } | { readonly refusal: AdminResponse } {
  const given = query.get("after") ?? "";
  if (given === "") return { key: undefined };
  const key = decodeBase64(given);
  const isOurs = key && compareKeys(key, start) >= 0 && compareKeys(key, end) < 0;
  if (isOurs) return { key };
  return { refusal: refuse(400, "InvalidInput", "after must be `next` of an earlier response") };
}
