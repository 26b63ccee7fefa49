import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import { blobNameUnitsMax } from "../../protocol/names.ts";
import { query } from "../../protocol/params.ts";

/** Tokens name the next path; Base64, as in the service, though clients must not look into them. */
export function continuationOf(path: string): string {
  return encodeBase64(Buffer.from(path, "utf8"));
}

function pathOf(token: string): string | undefined {
  const bytes = decodeBase64(token);
  if (bytes === undefined) return undefined;
  const path = Buffer.from(bytes).toString("utf8");
  const isPath = path !== "" && path.length <= blobNameUnitsMax && continuationOf(path) === token;
  return isPath ? path : undefined;
}

/** The path to go on with. */
export const continuation = query("continuation", pathOf);

export const continuationHeader = "x-ms-continuation";
