import { noBody } from "../../core/operation.ts";
import { oneOf, query } from "../../core/params.ts";
import { fail } from "../../core/result.ts";
import { element, textElement } from "../../core/xml-writer.ts";
import { xmlBody } from "../../core/xml-body.ts";
import { operation } from "../resources.ts";
import { blobKey } from "../shared/succession.ts";
import { committedBlocks, findUpload, stagedBlocks } from "./uncommitted.ts";

/** learn.microsoft.com/rest/api/storageservices/get-block-list */
export const getBlockList = operation({
  name: "Get Block List",
  ids: ["BlockBlob_GetBlockList"],
  route: { method: "GET", resource: "blob", query: { comp: "blocklist" } },
  since: "2009-09-19",
  params: { type: query("blocklisttype", oneOf("committed", "uncommitted", "all")) },
  body: noBody,
  permission: { letters: "r", resourceType: "o", publicRead: "blob" },
  target: "optional",
  conditions: "tags",
  lease: "match-if-given",
  etag: "keep",
  effect: "reads",
  bulky: true,
  success: { status: 200, headers: ["x-ms-blob-content-length"] },
  reads: async (view, { scope, address, target, input }) => {
    const type = input.type ?? "committed";
    const isBase = address.snapshot === undefined && address.versionId === undefined;
    const upload = isBase ? (await findUpload(view, blobKey({ scope, address }))).live : undefined;
    return {
      exists: target !== undefined || upload !== undefined,
      committed: type === "uncommitted" ? [] : await committedBlocks(view, target?.content),
      uncommitted: type === "committed" ? [] : await stagedBlocks(view, upload),
    };
  },
  decide: ({ target, seen, input }) => {
    if (!seen.exists) return fail("BlobNotFound");
    if (target !== undefined && target.type !== "BlockBlob") return fail("InvalidBlobType");
    const type = input.type ?? "committed";
    const committed = element("CommittedBlocks", renderBlocks(seen.committed));
    const uncommitted = element("UncommittedBlocks", renderBlocks(seen.uncommitted));
    const shown =
      (type === "uncommitted" ? "" : committed) + (type === "committed" ? "" : uncommitted);
    const length = target?.content.length;
    return {
      headers: { "x-ms-blob-content-length": length === undefined ? undefined : String(length) },
      body: xmlBody(element("BlockList", shown)),
    };
  },
});

function renderBlocks(blocks: readonly { readonly id: string; readonly length: number }[]): string {
  let xml = "";
  for (const { id, length } of blocks) {
    xml += element("Block", textElement("Name", id) + textElement("Size", length));
  }
  return xml;
}
