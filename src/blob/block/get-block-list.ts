import { blobRead } from "../blob-policy.ts";
import { oneOf, query } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { element, textElement } from "../../encoding/xml-writer.ts";
import { elementOf, joined, xmlBodyOf } from "../../encoding/xml-body.ts";
import { operation } from "../resources.ts";
import { committedBlocks, findUpload, stagedBlocks } from "./read-blocks.ts";

/** Get Block List. Clients that resume an interrupted upload learn from it which blocks they need
 *  not send again. */

/** Lists committed and uncommitted blocks of a blob.
 *  learn.microsoft.com/rest/api/storageservices/get-block-list */
export const getBlockList = operation({
  ...blobRead,
  name: "Get Block List",
  ids: ["BlockBlob_GetBlockList"],
  route: { method: "GET", resource: "blob", query: { comp: "blocklist" } },
  params: { type: query("blocklisttype", oneOf("committed", "uncommitted", "all")) },
  target: "optional",
  conditions: "tags",
  policy: { ...blobRead.policy, clientKey: "none", directories: "reject" },
  largeResponse: true,
  reads: async (view, { scope, address, target, input }) => {
    const { committedOnly, uncommittedOnly } = chosenLists(input.type);
    const isBase = address.snapshot === undefined && address.versionId === undefined;
    const upload = isBase ? (await findUpload(view, scope)).live : undefined;
    return {
      exists: target !== undefined || upload !== undefined,
      committed: uncommittedOnly ? [] : await render(committedBlocks(view, target?.content)),
      uncommitted: committedOnly ? [] : await render(stagedBlocks(view, upload)),
    };
  },
  decide: ({ target, readResult, input }) => {
    if (!readResult.exists) return fail("BlobNotFound");
    if (target !== undefined && target.type !== "BlockBlob") return fail("InvalidBlobType");
    const { committedOnly, uncommittedOnly } = chosenLists(input.type);
    const shown = joined(
      uncommittedOnly ? "" : elementOf("CommittedBlocks", readResult.committed),
      committedOnly ? "" : elementOf("UncommittedBlocks", readResult.uncommitted),
    );
    const length = target?.content.length;
    return {
      headers: { "x-ms-blob-content-length": length === undefined ? undefined : String(length) },
      body: xmlBodyOf(elementOf("BlockList", shown)),
    };
  },
});

/** Which of the two lists the request is for; without `blocklisttype` the committed one. */
function chosenLists(type = "committed") {
  return { committedOnly: type === "committed", uncommittedOnly: type === "uncommitted" };
}

interface ListedBlock {
  readonly id: string;
  readonly length: number;
}

/** Blocks per piece (string) of the response: a piece for each block would need more memory. */
const blocksPerPiece = 64;

/** Renders the blocks batch by batch: a list may have 150,000 blocks, whose records would need more
 *  memory than their text. */
async function render(batches: AsyncIterable<readonly ListedBlock[]>): Promise<readonly string[]> {
  const pieces: string[] = [];
  for await (const blocks of batches) {
    for (let from = 0; from < blocks.length; from += blocksPerPiece) {
      pieces.push(
        blocks
          .slice(from, from + blocksPerPiece)
          .map(renderBlock)
          .join(""),
      );
    }
  }
  return pieces;
}

function renderBlock({ id, length }: ListedBlock): string {
  return element("Block", textElement("Name", id) + textElement("Size", length));
}
