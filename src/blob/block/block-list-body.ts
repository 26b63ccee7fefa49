import type { LoopShare } from "../../base/loop-share.ts";
import type { XmlParser } from "../../operation/operation.ts";
import { fail, ok, type Failure, type Result } from "../../protocol/result.ts";
import { invalidXmlAt, type XmlElement } from "../../encoding/xml.ts";
import { committedBlocksMax } from "../shared/limits.ts";
import { isBlockId } from "./block-id.ts";

/** An entry of the body of Put Block List: the id of a block, and the list to find it in. */
export interface BlockListEntry {
  readonly from: "Committed" | "Uncommitted" | "Latest";
  readonly id: string;
}

const sources: ReadonlySet<string> = new Set(["Committed", "Uncommitted", "Latest"]);

/** Parses `<BlockList>` with the elements `<Committed>`, `<Uncommitted>` and `<Latest>` in any
 *  order. */
export const parseBlockList: XmlParser<readonly BlockListEntry[]> = (root, loop) => {
  if (root === undefined || root.name !== "BlockList") return fail("InvalidXmlDocument");
  if (root.children.length > committedBlocksMax) return fail("BlockListTooLong");
  const entries: BlockListEntry[] = [];
  if (root.children.length > entriesPerStep) return readInSteps(loop, root.children, entries);
  const malformed = readEntries(root.children, entries);
  return malformed ?? ok(entries);
};

/** Entries parsed per step, and its cost in units of event-loop time. */
const entriesPerStep = 512;
const unitsPerStep = 64;

async function readInSteps(
  loop: LoopShare,
  children: readonly XmlElement[],
  entries: BlockListEntry[],
): Promise<Result<readonly BlockListEntry[]>> {
  for (let from = 0; from < children.length; from += entriesPerStep) {
    await loop.spend(unitsPerStep);
    const malformed = readEntries(children.slice(from, from + entriesPerStep), entries);
    if (malformed !== undefined) return malformed;
  }
  return ok(entries);
}

function readEntries(
  children: readonly XmlElement[],
  entries: BlockListEntry[],
): Failure | undefined {
  for (const child of children) {
    if (!sources.has(child.name)) return invalidXmlAt(child.start, "Unexpected element.");
    const id = child.text.trim();
    if (!isBlockId(id)) return fail("InvalidBlockList");
    entries.push({ from: child.name as BlockListEntry["from"], id });
  }
  return undefined;
}
