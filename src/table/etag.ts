import { bareETag, type Conditions } from "../protocol/conditions.ts";
import { missingHeader } from "../protocol/faults.ts";
import type { ParamReader } from "../protocol/params.ts";
import { fail, ok, type Result } from "../protocol/result.ts";
import type { Ticks } from "../base/ticks.ts";
import { formatDateTime, parseDateTime } from "./edm/date-time.ts";

/** A weak ETag with the time of the change: `W/"datetime'2022-05-06T00%3A34%3A41.820498Z'"`. */
export function formatEntityETag(etag: Ticks): string {
  return `W/"datetime'${formatDateTime(etag).replaceAll(":", "%3A")}'"`;
}

const etagForm = /^W\/"datetime'([^']{1,40})'"$/;

function parseEntityETag(text: string): Ticks | undefined {
  const inner = etagForm.exec(text.trim())?.[1];
  return inner === undefined ? undefined : parseDateTime(inner.replaceAll(/%3a/gi, ":"));
}

const weakForm = /^W\/"[^"]*"$/;

/** Parses If-Match into the conditions that all services share. Recorded: a weak ETag that is no
 *  entity ETag matches no entity (412); any other text is 400. */
export function readMatch(reader: ParamReader): Result<Conditions> {
  const text = reader.header("if-match");
  if (text === undefined) return missingHeader("If-Match");
  if (reader.header("if-none-match") !== undefined) return fail("InvalidInput");
  if (text.trim() === "*") return ok({ ifMatch: "*" });
  const etag = parseEntityETag(text);
  if (etag !== undefined) return ok({ ifMatch: [bareETag(etag)] });
  if (weakForm.test(text.trim())) return ok({ ifMatch: [text.trim()] });
  const message =
    `The etag value '${text}' specified in one of the request headers is not valid. ` +
    "Please make sure only one etag value is specified and is valid.";
  return fail("InvalidInput", { message });
}
