import type { Service } from "../operation/service.ts";
import { fileCopy } from "./copy/transfer.ts";
import { operations } from "./operations.ts";
import { reclaimSnapshot } from "./reclaim-snapshot.ts";
import { reclaimDisplaced } from "./rename/displace.ts";
import { fileTables } from "./records.ts";
import { identify, signedName, type FileAddress } from "./file-address.ts";
import { resources } from "./resources.ts";

/** The File service, as the pipeline and the background tasks use it. */
export const fileService: Service = {
  name: "file",
  identify,
  signedName: (address, header) => signedName(address as FileAddress, header),
  resources,
  operations,
  tables: fileTables,
  reclaimers: { "file-snapshot": reclaimSnapshot, "file-displaced": reclaimDisplaced },
  transfers: { "file-copy": fileCopy },
};
