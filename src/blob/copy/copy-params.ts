import { parseConditions, type Conditions } from "../../protocol/conditions.ts";
import { parseGuid } from "../../protocol/guid.ts";
import { boolean, header, oneOf, type Param } from "../../protocol/params.ts";
import { blockTiers, pageTiers } from "../shared/tier.ts";

/** The conditions on the source of a copy. */
export const sourceConditions: Param<Conditions> = {
  sources: [
    "x-ms-source-if-match",
    "x-ms-source-if-none-match",
    "x-ms-source-if-modified-since",
    "x-ms-source-if-unmodified-since",
    "x-ms-source-if-tags",
  ],
  parse: (reader) => parseConditions(reader, "source"),
};

/** `x-ms-access-tier`. Which tiers are valid depends on the type of the source, which is not known
 *  yet. */
export const anyTier = header("x-ms-access-tier", oneOf(...blockTiers, ...pageTiers));
export const rehydratePriority = header("x-ms-rehydrate-priority", oneOf("High", "Standard"));
export const sealBlob = header("x-ms-seal-blob", boolean);
export const tagOption = header("x-ms-copy-source-tag-option", oneOf("REPLACE", "COPY"));
export const sourceLeaseId = header("x-ms-source-lease-id", parseGuid);
