import { parseGuid } from "../../protocol/guid.ts";
import { boolean, header, oneOf } from "../../protocol/params.ts";

/** Headers of Copy Blob that Put Blob From URL and Copy Blob From URL have, too. */

export const rehydratePriority = header("x-ms-rehydrate-priority", oneOf("High", "Standard"));
export const sealBlob = header("x-ms-seal-blob", boolean);
export const tagOption = header("x-ms-copy-source-tag-option", oneOf("REPLACE", "COPY"));
export const sourceLeaseId = header("x-ms-source-lease-id", parseGuid);
