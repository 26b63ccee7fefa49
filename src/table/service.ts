import type { Service } from "../operation/service.ts";
import { dialect } from "./dialect.ts";
import { operations } from "./operations.ts";
import { identify, type TableAddress } from "./path.ts";
import { reclaimers } from "./reclaim.ts";
import { tableTables } from "./records.ts";
import { resources, signedName } from "./resources.ts";

export const tableService: Service = {
  name: "table",
  identify,
  signedName: (address) => signedName(address as TableAddress),
  resources,
  operations,
  tables: tableTables,
  dialect,
  reclaimers,
};
