import { blobRead } from "../blob-policy.ts";
import { oneOf, query } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import { element, textElement } from "../../encoding/xml-writer.ts";
import { xmlBody } from "../../encoding/xml-body.ts";
import { operation } from "../resources.ts";
import { blobKey } from "../shared/overwrite.ts";
import { committedBlocks, findUpload, stagedBlocks } from "./read-blocks.ts";

/** learn.microsoft.com/rest/api/storageservices/get-block-list */
export const getBlockList = operation({
  ...blobRead,
  name: "Get Block List",
  ids: ["BlockBlob_GetBlockList"],
  route: { method: "GET", resource: "blob", query: { comp: "blocklist" } },
  since: "2009-09-19",
  params: { type: query("blocklisttype", oneOf("committed", "uncommitted", "all")) },
  target: "optional",
  conditions: "tags",
  policy: { ...blobRead.policy, clientKey: "none", directories: "reject" },
  largeResponse: true,
  success: { status: 200, headers: ["x-ms-blob-content-length"] },
  reads: async (view, { scope, address, target, input }) => {
    const { committedOnly, uncommittedOnly } = chosenLists(input.type);
    const isBase = address.snapshot === undefined && address.versionId === undefined;
    const upload = isBase ? (await findUpload(view, blobKey({ scope }))).live : undefined;
    return {
      exists: target !== undefined || upload !== undefined,
      committed: uncommittedOnly ? "" : await render(committedBlocks(view, target?.content)),
      uncommitted: committedOnly ? "" : await render(stagedBlocks(view, upload)),
    };
  },
  decide: ({ target, readResult, input }) => {
    if (!readResult.exists) return fail("BlobNotFound");
    if (target !== undefined && target.type !== "BlockBlob") return fail("InvalidBlobType");
    const { committedOnly, uncommittedOnly } = chosenLists(input.type);
    const committed = element("CommittedBlocks", readResult.committed);
    const uncommitted = element("UncommittedBlocks", readResult.uncommitted);
    const shown = (uncommittedOnly ? "" : committed) + (committedOnly ? "" : uncommitted);
    const length = target?.content.length;
    return {
      headers: { "x-ms-blob-content-length": length === undefined ? undefined : String(length) },
      body: xmlBody(element("BlockList", shown)),
    };
  },
});

/** Whether the request is for only one of the two lists; without `blocklisttype` it is for the
 *  committed one. */
function chosenLists(type = "committed") {
  return { committedOnly: type === "committed", uncommittedOnly: type === "uncommitted" };
}

interface ListedBlock {
  readonly id: string;
  readonly length: number;
}

/** Renders the blocks batch by batch: a list may have 150,000 blocks, whose records would need more
 *  memory than their text. */
async function render(batches: AsyncIterable<readonly ListedBlock[]>): Promise<string> {
  let xml = "";
  for await (const blocks of batches) {
    for (const { id, length } of blocks) {
      xml += element("Block", textElement("Name", id) + textElement("Size", length));
    }
  }
  return xml;
}
