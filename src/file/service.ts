import type { Service } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import { fileCopy } from "./copy/transfer.ts";
import { operations } from "./operations.ts";
import { reclaimers } from "./reclaim.ts";
import { nodes, versions } from "./records.ts";
import { identify, resources, signedName, type FileAddress } from "./resources.ts";

export const fileService: Service = {
  name: "file",
  identify,
  signedName: (address) => signedName(address as FileAddress),
  resources,
  operations,
  contentTables: [anyTable(nodes), anyTable(versions)],
  reclaimers,
  transfers: { "file-copy": fileCopy },
};
