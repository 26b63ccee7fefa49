import type { Service } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import { blobCopy } from "./copy/transfer.ts";
import { operations } from "./operations.ts";
import { reclaimers } from "./reclaim.ts";
import { blobs, blocks, generations } from "./records.ts";
import { identify, signedName } from "./address.ts";
import { resources, type BlobAddress } from "./resources.ts";
import { identifyPage } from "./website/get-page.ts";

export const blobService: Service = {
  name: "blob",
  identify,
  identifyPage,
  signedName: (address) => signedName(address as BlobAddress),
  resources,
  operations,
  contentTables: [anyTable(blobs), anyTable(generations), anyTable(blocks)],
  reclaimers,
  transfers: { "blob-copy": blobCopy },
};
