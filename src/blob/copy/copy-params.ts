import { parseGuid } from "../../protocol/guid.ts";
import { boolean, header, oneOf } from "../../protocol/params.ts";

export const rehydratePriority = header("x-ms-rehydrate-priority", oneOf("High", "Standard"));
export const sealBlob = header("x-ms-seal-blob", boolean);
export const tagOption = header("x-ms-copy-source-tag-option", oneOf("REPLACE", "COPY"));
export const sourceLeaseId = header("x-ms-source-lease-id", parseGuid);
