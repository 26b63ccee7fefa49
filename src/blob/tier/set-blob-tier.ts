import { invalidHeader } from "../../protocol/faults.ts";
import { header, oneOf, required } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { putAddressed } from "../shared/overwrite.ts";
import { anyTier, archive, beginRehydration, pageTiers, type Tier } from "./rehydration.ts";
import type { Version } from "../../protocol/versions.ts";

/** Set Blob Tier: changes the access tier, by which Azure charges for a blob. A blob in the tier
 *  Archive cannot be read until it is rehydrated. */

const tierHeader = "x-ms-access-tier";
/** The first x-ms-version with the tier Cold. */
const coldSince: Version = "2021-12-02";

/** Changes the access tier of a blob. A change from Archive is a rehydration: it takes hours (202),
 *  and is not possible for snapshots and versions. Other changes take effect at once. The ETag does
 *  not change. learn.microsoft.com/rest/api/storageservices/set-blob-tier */
export const setBlobTier = operation({
  name: "Set Blob Tier",
  ids: ["Blob_SetTier"],
  route: { method: "PUT", resource: "blob", query: { comp: "tier" } },
  since: "2017-04-17",
  params: {
    tier: required(anyTier),
    priority: header("x-ms-rehydrate-priority", oneOf("High", "Standard")),
  },
  permission: { letters: "w", resourceType: "o" },
  target: "must-exist",
  conditions: "tags",
  lease: "match-if-given",
  etag: "none",
  mayBeBatched: true,
  policy: {
    content: "none",
    generations: "any",
    pendingCopy: "reject",
    clientKey: "none",
    directories: "reject",
    event: "SetBlobTier",
  },
  decide: (context) => {
    const { target, input, now, version } = context;
    const { tier } = input;
    const failure = tierFault(target, tier, version);
    if (failure !== undefined) return failure;
    const { rehydration } = target;
    if (rehydration !== undefined) {
      if (rehydration.to !== tier) return fail("BlobBeingRehydrated");
      const priority = input.priority ?? rehydration.priority;
      const updated = beginRehydration(tier, priority, now);
      const due = updated.due < rehydration.due ? updated.due : rehydration.due;
      const put = { ...target, rehydration: { ...updated, due } };
      return { ...putAddressed(context, put), status: 202 };
    }
    if (target.tier === archive && tier !== archive) {
      const isGeneration = target.snapshot !== undefined || target.superseded === true;
      if (isGeneration) return fail("BlobOperationNotSupported");
      const pending = beginRehydration(tier, input.priority ?? "Standard", now);
      return { ...putAddressed(context, { ...target, rehydration: pending }), status: 202 };
    }
    return putAddressed(context, { ...target, tier, tierChanged: now });
  },
});

/** The fault if a blob of this type cannot have the tier; undefined if it can. */
function tierFault(target: BlobRecord, tier: Tier, version: string) {
  const pageTier = pageTiers.indexOf(tier as (typeof pageTiers)[number]);
  switch (target.type) {
    case "BlockBlob": {
      const isValid = pageTier < 0 && (tier !== "Cold" || version >= coldSince);
      return isValid ? undefined : invalidHeader(tierHeader, tier);
    }
    case "PageBlob": {
      if (pageTier < 0) return fail("InvalidBlobTier");
      const current = pageTiers.indexOf(target.tier as (typeof pageTiers)[number]);
      return pageTier < current ? fail("CannotChangeToLowerTier") : undefined;
    }
    case "AppendBlob":
      return fail("InvalidBlobType");
    default:
      return target.type satisfies never;
  }
}
