import type { Service } from "../operation/service.ts";
import { operations } from "./operations.ts";
import { reclaimers } from "./reclaim.ts";
import { queueTables } from "./records.ts";
import { identify, resources, signedName, type QueueAddress } from "./resources.ts";

export const queueService: Service = {
  name: "queue",
  identify,
  signedName: (address) => signedName(address as QueueAddress),
  resources,
  operations,
  tables: queueTables,
  reclaimers,
};
