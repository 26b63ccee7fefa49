import { decodeBase64, encodeBase64 } from "../../base/base64.ts";
import type { EntityKeys } from "../../protocol/principal.ts";
import type { Param } from "../../protocol/params.ts";
import { resourceNameUnitsMax } from "../../protocol/names.ts";
import { fail, ok } from "../../protocol/result.ts";
import { keyUnitsMax } from "../edm/limits.ts";

/** Formats a continuation token as the service does: `1!`, the length of the rest, `!`, and the
 *  Base64 of the key with `-` for `=`. */
export function formatToken(text: string): string {
  const encoded = encodeBase64(new TextEncoder().encode(text)).replaceAll("=", "-");
  return `1!${encoded.length}!${encoded}`;
}

const tokenForm = /^1!(\d{1,5})!([A-Za-z0-9+/-]*)$/;

/** Returns the key in a continuation token. A token in any other format is the key itself, as older
 *  clients send it. */
export function parseToken(token: string): string {
  const encoded = tokenForm.exec(token)?.[2];
  const bytes = encoded === undefined ? undefined : decodeBase64(encoded.replaceAll("-", "="));
  return bytes === undefined ? token : new TextDecoder().decode(bytes);
}

/** The keys of the first entity of the next page. */
export const nextEntity: Param<EntityKeys | undefined> = {
  sources: ["?NextPartitionKey", "?NextRowKey"],
  parse: (reader) => {
    const partition = reader.query("nextpartitionkey");
    if (partition === undefined || partition === "") return ok(undefined);
    const row = reader.query("nextrowkey") ?? "";
    const keys = { partitionKey: parseToken(partition), rowKey: parseToken(row) };
    const isValid = keys.partitionKey.length <= keyUnitsMax && keys.rowKey.length <= keyUnitsMax;
    return isValid ? ok(keys) : fail("InvalidInput");
  },
};

/** The name of the first table of the next page. */
export const nextTable: Param<string | undefined> = {
  sources: ["?NextTableName"],
  parse: (reader) => {
    const token = reader.query("nexttablename");
    if (token === undefined || token === "") return ok(undefined);
    const name = parseToken(token);
    return name.length <= resourceNameUnitsMax ? ok(name) : fail("InvalidInput");
  },
};
