import { bareETag } from "../protocol/etag.ts";
import type { Conditions } from "../protocol/conditions.ts";
import { missingHeader } from "../protocol/faults.ts";
import type { ParamReader } from "../protocol/params.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { Ticks } from "../base/ticks.ts";
import { formatDateTime, parseDateTime } from "./edm/date-time.ts";

/** Weak, and the moment of the change: `W/"datetime'2022-05-06T00%3A34%3A41.820498Z'"`. */
export function formatEntityETag(newETag: Ticks): string {
  if (newETag !== lastStamp) {
    lastText = `W/"datetime'${formatDateTime(newETag).replaceAll(":", "%3A")}'"`;
    lastStamp = newETag;
  }
  return lastText;
}

/** What a transaction writes has one moment in common. */
let lastStamp: Ticks | undefined;
let lastText = "";

const form = /^W\/"datetime'([^']{1,40})'"$/;

function parseEntityETag(text: string): Ticks | undefined {
  const inner = form.exec(text.trim())?.[1];
  return inner === undefined ? undefined : parseDateTime(inner.replaceAll(/%3a/gi, ":"));
}

const weakForm = /^W\/"[^"]*"$/;

/** The condition in the form that all services share. Recorded: a weak ETag in another form is one
 *  that no entity has (412); what is no weak ETag is refused (400). */
export function readMatch(reader: ParamReader): Result<Conditions> {
  const text = reader.header("if-match");
  if (text === undefined) return missingHeader("If-Match");
  if (reader.header("if-none-match") !== undefined) return fail("InvalidInput");
  if (text.trim() === "*") return ok({ ifMatch: "*" });
  const newETag = parseEntityETag(text);
  if (newETag !== undefined) return ok({ ifMatch: [bareETag(newETag)] });
  if (weakForm.test(text.trim())) return ok({ ifMatch: [text.trim()] });
  const message =
    `The etag value '${text}' specified in one of the request headers is not valid. ` +
    "Please make sure only one etag value is specified and is valid.";
  return fail("InvalidInput", { message });
}
