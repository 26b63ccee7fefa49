import type { Service } from "../../operation/service.ts";
import { blobService } from "../service.ts";
import { identifyPath } from "./address.ts";
import { dialect } from "./dialect.ts";
import { dfsOperations } from "./operations.ts";

/** The Data Lake API: a second API to the containers and blobs of the blob service. */
export const dfsService: Service = {
  ...blobService,
  api: "dfs",
  identify: identifyPath,
  operations: dfsOperations,
  dialect,
};
