import type { XmlParser } from "../../core/operation.ts";
import { fail, ok } from "../../core/result.ts";
import { invalidXmlAt } from "../../core/xml.ts";
import { committedBlocksMax } from "../shared/limits.ts";
import { isBlockId } from "./block-id.ts";

export interface BlockListEntry {
  readonly from: "Committed" | "Uncommitted" | "Latest";
  readonly id: string;
}

const sources: ReadonlySet<string> = new Set(["Committed", "Uncommitted", "Latest"]);

/** `<BlockList>` with any mix of `<Committed>`, `<Uncommitted>` and `<Latest>`. */
export const parseBlockList: XmlParser<readonly BlockListEntry[]> = (root) => {
  if (root === undefined || root.name !== "BlockList") return fail("InvalidXmlDocument");
  if (root.children.length > committedBlocksMax) return fail("BlockListTooLong");
  const entries: BlockListEntry[] = [];
  for (const child of root.children) {
    if (!sources.has(child.name)) return invalidXmlAt(child.start, "Unexpected element.");
    const id = child.text.trim();
    if (!isBlockId(id)) return fail("InvalidBlockList");
    entries.push({ from: child.name as BlockListEntry["from"], id });
  }
  return ok(entries);
};
