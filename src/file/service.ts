import type { Service } from "../operation/service.ts";
import { anyTable } from "../encoding/table.ts";
import { fileCopy } from "./copy/transfer.ts";
import { operations } from "./operations.ts";
import { reclaimers } from "./reclaim.ts";
import { nodes, versions } from "./records.ts";
import { identify, signedName, type FileAddress } from "./file-address.ts";
import { resources } from "./resources.ts";

/** The File service, as the pipeline and the background tasks use it. */
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
