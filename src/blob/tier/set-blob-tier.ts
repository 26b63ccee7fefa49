import { invalidHeader } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import { header, oneOf, required } from "../../protocol/params.ts";
import { fail } from "../../protocol/result.ts";
import type { BlobRecord } from "../records.ts";
import { operation } from "../resources.ts";
import { putAddressed } from "../shared/generation.ts";
import { blockTiers, pageTiers } from "../shared/tier.ts";
import { archive, beginRehydration } from "./rehydration.ts";

type Tier = (typeof blockTiers)[number] | (typeof pageTiers)[number];

const tierHeader = "x-ms-access-tier";
const coldSince = "2021-12-02";

/** Leaving the archive takes hours, and snapshots and earlier versions cannot; everything else is
 *  done at once. The ETag stays.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-tier */
export const setBlobTier = operation({
  name: "Set Blob Tier",
  ids: ["Blob_SetTier"],
  route: { method: "PUT", resource: "blob", query: { comp: "tier" } },
  since: "2017-04-17",
  params: {
    tier: required(header(tierHeader, oneOf(...blockTiers, ...pageTiers))),
    priority: header("x-ms-rehydrate-priority", oneOf("High", "Standard")),
  },
  body: noBody,
  permission: { letters: "w", resourceType: "o" },
  target: "must-exist",
  conditions: "tags",
  lease: "match-if-given",
  etag: "none",
  effect: "writes",
  mayBeBatched: true,
  policy: {
    content: "none",
    generations: "any",
    pendingCopy: "reject",
    clientKey: "none",
    directories: "reject",
  },
  success: { status: 200, headers: [] },
  decide: (context) => {
    const { target, input, now, version } = context;
    const { tier } = input;
    const refusal = refusalOf(target, tier, version);
    if (refusal !== undefined) return refusal;
    const { rehydration } = target;
    if (rehydration !== undefined) {
      if (rehydration.to !== tier) return fail("BlobBeingRehydrated");
      const priority = input.priority ?? rehydration.priority;
      const hurried = beginRehydration(tier, priority, now);
      const due = hurried.due < rehydration.due ? hurried.due : rehydration.due;
      const put = { ...target, rehydration: { ...hurried, due } };
      return { ...putAddressed(context, put), status: 202 };
    }
    if (target.tier === archive && tier !== archive) {
      const isPast = target.snapshot !== undefined || target.superseded === true;
      if (isPast) return fail("BlobOperationNotSupported");
      const pending = beginRehydration(tier, input.priority ?? "Standard", now);
      return { ...putAddressed(context, { ...target, rehydration: pending }), status: 202 };
    }
    return putAddressed(context, { ...target, tier, tierChanged: now });
  },
});

function refusalOf(target: BlobRecord, tier: Tier, version: string) {
  const pageTier = pageTiers.indexOf(tier as (typeof pageTiers)[number]);
  switch (target.type) {
    case "BlockBlob": {
      const known = pageTier < 0 && (tier !== "Cold" || version >= coldSince);
      return known ? undefined : invalidHeader(tierHeader, tier);
    }
    case "PageBlob": {
      if (pageTier < 0) return fail("InvalidBlobTier");
      const present = pageTiers.indexOf(target.tier as (typeof pageTiers)[number]);
      return pageTier < present ? fail("CannotChangeToLowerTier") : undefined;
    }
    case "AppendBlob":
      return fail("InvalidBlobType");
    default:
      return target.type satisfies never;
  }
}
