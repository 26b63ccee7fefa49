import { parseHttpDate } from "../../base/dates.ts";
import { periodJob } from "../../operation/effects.ts";
import { invalidHeader, missingHeader } from "../../protocol/faults.ts";
import { noBody } from "../../operation/operation.ts";
import { header, oneOf, required, text } from "../../protocol/params.ts";
import { ok, type Result } from "../../protocol/result.ts";
import { ticksMax, ticksPerMillisecond, type Ticks } from "../../base/ticks.ts";
import { blobs } from "../records.ts";
import { operation } from "../resources.ts";
import { blobKey } from "../shared/overwrite.ts";

const timeHeader = "x-ms-expiry-time";
type Option = "NeverExpire" | "RelativeToCreation" | "RelativeToNow" | "Absolute";

export const expiryOption = header(
  "x-ms-expiry-option",
  oneOf("NeverExpire", "RelativeToCreation", "RelativeToNow", "Absolute"),
);

/** Sets or removes the expiry time of a blob, from which on it is treated as absent.
 *  learn.microsoft.com/rest/api/storageservices/set-blob-expiry */
export const setBlobExpiry = operation({
  name: "Set Blob Expiry",
  ids: ["Blob_SetExpiry"],
  route: { method: "PUT", resource: "blob", query: { comp: "expiry" } },
  since: "2020-02-10",
  params: {
    option: required(expiryOption),
    time: header(timeHeader, text),
  },
  body: noBody,
  permission: { letters: "w", resourceType: "o" },
  namespace: "hierarchical",
  target: "must-exist",
  conditions: "none",
  lease: "match-if-leased",
  etag: "keep",
  effect: "writes",
  policy: {
    content: "change",
    generations: "current",
    pendingCopy: "reject",
    clientKey: "none",
    directories: "reject",
    event: "none",
  },
  success: { status: 200, headers: [] },
  decide: (context) => {
    const { target, input, now } = context;
    const expiry = expiryOf(input.option, input.time, { created: target.created, now });
    if (!expiry.ok) return expiry;
    const expiresAt = expiry.value;
    const put = { ...target, expiresAt };
    return { put, effects: periodJob(blobs, blobKey(context), put) };
  },
});

/** The expiry time of a request; undefined for `NeverExpire`. Relative times are in milliseconds. A
 *  time that is not in the future is a fault, except relative to the creation: the blob then
 *  expires at once. */
export function expiryOf(
  option: Option,
  given: string | undefined,
  { created, now }: { readonly created: Ticks; readonly now: Ticks },
): Result<Ticks | undefined> {
  if (option === "NeverExpire") {
    return given === undefined ? ok(undefined) : invalidHeader(timeHeader, given);
  }
  if (given === undefined) return missingHeader(timeHeader);
  const start = option === "RelativeToNow" ? now : created;
  const moment = option === "Absolute" ? parseHttpDate(given) : after(start, given);
  const mayBePast = option === "RelativeToCreation";
  if (moment === undefined || (moment <= now && !mayBePast) || moment > ticksMax) {
    return invalidHeader(timeHeader, given);
  }
  return ok(moment);
}

function after(start: Ticks, milliseconds: string): Ticks | undefined {
  if (!/^\d{1,15}$/.test(milliseconds)) return undefined;
  return start + BigInt(milliseconds) * ticksPerMillisecond;
}
