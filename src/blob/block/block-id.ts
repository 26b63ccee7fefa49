import { decodeBase64 } from "../../core/base64.ts";
import { invalidQuery, missingQuery } from "../../core/faults.ts";
import type { Param } from "../../core/params.ts";
import { ok } from "../../core/result.ts";
import { blockIdBytesMax } from "../shared/limits.ts";

export function isBlockId(id: string): boolean {
  const bytes = decodeBase64(id);
  return bytes !== undefined && bytes.length > 0 && bytes.length <= blockIdBytesMax;
}

export const blockId: Param<string> = {
  sources: ["?blockid"],
  parse: (reader) => {
    const id = reader.query("blockid");
    if (id === undefined || id === "") return missingQuery("blockid");
    return isBlockId(id) ? ok(id) : invalidQuery("blockid", id, "Not a valid base64 string.");
  },
};
