import { base64ByteLength } from "../../base/base64.ts";
import { invalidQuery, missingQuery } from "../../protocol/faults.ts";
import type { Param } from "../../protocol/params.ts";
import { ok } from "../../protocol/result.ts";
import { blockIdBytesMax } from "../shared/limits.ts";

const blockIdUnitsMax = Math.ceil(blockIdBytesMax / 3) * 4;

/** Whether the text is base64 of at most 64 bytes, as block ids must be. */
export function isBlockId(id: string): boolean {
  if (id.length > blockIdUnitsMax) return false;
  const bytes = base64ByteLength(id);
  return bytes !== undefined && bytes > 0 && bytes <= blockIdBytesMax;
}

export const blockId: Param<string> = {
  sources: ["?blockid"],
  parse: (reader) => {
    const id = reader.query("blockid");
    if (id === undefined || id === "") return missingQuery("blockid");
    return isBlockId(id) ? ok(id) : invalidQuery("blockid", id, "Not a valid base64 string.");
  },
};
