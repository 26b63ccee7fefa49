import { parseHttpDate } from "../base/dates.ts";
import { invalidHeader, type ConditionName, type FaultCode } from "./faults.ts";
import type { ParamReader } from "./params.ts";
import { fail, ok, type Failure, type Result } from "./result.ts";
import { matchesTags, parseTagPredicate, type TagPredicate, type Tags } from "./tags.ts";
import { fileTimeStart, ticksMax, truncateToSecond, type Ticks } from "../base/ticks.ts";

/** Conditional headers (If-Match and the like): parsing, the check of a read or write, and ETags.
 *  `operation/check.ts` applies them inside the transaction, which is what protects clients from
 *  lost updates.
 *  learn.microsoft.com/rest/api/storageservices/specifying-conditional-headers-for-blob-service-operations */

/** The conditional headers of a request, for its target or for the source of a copy. Undefined: the
 *  request does not have the header. */
export interface Conditions {
  readonly ifMatch?: ETagList;
  readonly ifNoneMatch?: ETagList;
  readonly ifModifiedSince?: Ticks;
  readonly ifUnmodifiedSince?: Ticks;
  readonly ifTags?: TagPredicate;
}

/** The state of a resource that conditions are compared with. */
export interface ConditionTarget {
  readonly etag: Ticks;
  /** The time of the last change; undefined if it is that of the ETag, as for blobs. */
  readonly lastModified?: Ticks;
  readonly tags?: Tags | undefined;
}

/** Shared by all requests without conditions, which are recognised by identity. */
export const noConditions: Conditions = {};

/** Which headers are parsed. `plain`: those of the target; `source`: those of a copy source;
 *  `blob`: the `x-ms-blob-if-…` headers of the tag operations. */
export type ConditionHeaders = "plain" | "source" | "blob";

/** The header names of each kind. Created once: looking up a header name that was concatenated for
 *  the request costs many times more. */
export const conditionHeaders = {
  plain: namesWith("", "x-ms-if-tags"),
  source: namesWith("x-ms-source-", "x-ms-source-if-tags"),
  blob: namesWith("x-ms-blob-", "x-ms-if-tags"),
};

function namesWith(prefix: string, ifTags: string) {
  return {
    ifMatch: `${prefix}if-match`,
    ifNoneMatch: `${prefix}if-none-match`,
    ifModifiedSince: `${prefix}if-modified-since`,
    ifUnmodifiedSince: `${prefix}if-unmodified-since`,
    ifTags,
  } as const;
}

/** Parses the conditional headers. Empty headers count as absent (recorded from Azure for the
 *  source headers of copies). */
export function parseConditions(
  reader: Pick<ParamReader, "header">,
  which: ConditionHeaders = "plain",
): Result<Conditions> {
  const names = conditionHeaders[which];
  const match = reader.header(names.ifMatch);
  const noneMatch = reader.header(names.ifNoneMatch);
  const modified = reader.header(names.ifModifiedSince);
  const unmodified = reader.header(names.ifUnmodifiedSince);
  const tags = reader.header(names.ifTags);
  // Most requests have none. The shared constant lets the checks return at once.
  if (!(match || noneMatch || modified || unmodified || tags)) return unconditional;
  const conditions: Mutable<Conditions> = {};
  const ifMatch = parseETagList(match ?? "");
  if (ifMatch !== undefined) conditions.ifMatch = ifMatch;
  const ifNoneMatch = parseETagList(noneMatch ?? "");
  if (ifNoneMatch !== undefined) conditions.ifNoneMatch = ifNoneMatch;
  if (modified) {
    const date = parseHttpDate(modified);
    if (date === undefined) return invalidHeader(names.ifModifiedSince, modified);
    conditions.ifModifiedSince = date;
  }
  if (unmodified) {
    const date = parseHttpDate(unmodified);
    if (date === undefined) return invalidHeader(names.ifUnmodifiedSince, unmodified);
    conditions.ifUnmodifiedSince = date;
  }
  if (tags) {
    const ifTags = parseTagPredicate(tags);
    if (ifTags === undefined) return invalidHeader(names.ifTags, tags);
    conditions.ifTags = ifTags;
  }
  for (const _ in conditions) return ok(conditions);
  return unconditional;
}

const unconditional = ok(noConditions);

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const passed = ok(undefined);

/** Checks the conditions of a read; `target` is undefined if the resource does not exist. Any
 *  combination is allowed. If-Match and If-Unmodified-Since must both hold (412). Of If-None-Match
 *  and If-Modified-Since one is enough (304). */
export function checkRead(
  conditions: Conditions,
  target: ConditionTarget | undefined,
): Result<undefined> | "not-modified" {
  if (conditions === noConditions) return passed;
  if (conditions.ifNoneMatch === "*")
    return conditionFailure("If-None-Match", "UnsatisfiableCondition");
  const { matches, noneMatches, modified, unmodified } = evaluate(conditions, target);
  if (matches === false) return conditionFailure("If-Match", "ConditionNotMet");
  if (unmodified === false) return conditionFailure("If-Unmodified-Since", "ConditionNotMet");
  if (noneMatches === false && modified !== true) return "not-modified";
  if (modified === false && noneMatches !== true) return "not-modified";
  return checkTagCondition(conditions, target);
}

/** How `checkWrite` checks the conditions of an operation. The operations differ in fault codes. */
interface WriteCheck {
  /** Whether the operation creates its target, like Put Blob: `If-None-Match: *` then fails with
   *  409 BlobAlreadyExists. */
  readonly creates: boolean;
  /** Whether the request has the correct lease id. Recorded from Azure: it is then not rejected
   *  with BlobAlreadyExists. */
  readonly holdsLease?: boolean;
  /** Fault code of a failed condition instead of ConditionNotMet: Copy Blob has
   *  TargetConditionNotMet, and SourceConditionNotMet for its source. */
  readonly failedCode?: FaultCode | undefined;
  /** The fault code of some copies for an If-Match value that cannot be an ETag; undefined:
   *  `failedCode`, as for most operations. */
  readonly notAnETagCode?: FaultCode | undefined;
  /** Fault code of Append Block for an If-Match value outside the range of ETags. */
  readonly outOfRangeCode?: FaultCode | undefined;
}

/** Checks the conditions of a write. One header is allowed, or a pair in which the ETag decides; a
 *  failed condition is always 412. */
export function checkWrite(
  conditions: Conditions,
  target: ConditionTarget | undefined,
  check: WriteCheck,
): Result<undefined> {
  if (conditions === noConditions) return passed;
  if (!isWriteCombination(conditions)) return fail("MultipleConditionHeadersNotSupported");
  const failedCode = check.failedCode ?? "ConditionNotMet";
  if (conditions.ifNoneMatch === "*" && target !== undefined && check.creates) {
    if (check.holdsLease !== true) return conditionFailure("If-None-Match", "BlobAlreadyExists");
    return checkTagCondition(conditions, target);
  }
  const { matches, noneMatches, modified, unmodified } = evaluate(conditions, target);
  if (noneMatches === false) return conditionFailure("If-None-Match", failedCode);
  if (matches === false) {
    return conditionFailure("If-Match", unmatchedCode(conditions.ifMatch, check) ?? failedCode);
  }
  // In a pair of an ETag and a date, the ETag decides alone.
  if (modified === false && noneMatches === undefined)
    return conditionFailure("If-Modified-Since", failedCode);
  if (unmodified === false && matches === undefined)
    return conditionFailure("If-Unmodified-Since", failedCode);
  return checkTagCondition(conditions, target);
}

/** Checks the dates of a write whose target has no ETag yet, only the time of its last change.
 *  Dates are ignored if the request also has an ETag condition. */
export function checkWriteDates(conditions: Conditions, lastModified: Ticks): Result<undefined> {
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions;
  if ((ifMatch ?? ifNoneMatch) !== undefined) return passed;
  const changed = truncateToSecond(lastModified);
  if (ifModifiedSince !== undefined && changed <= ifModifiedSince) {
    return conditionFailure("If-Modified-Since", "ConditionNotMet");
  }
  return ifUnmodifiedSince !== undefined && changed > ifUnmodifiedSince
    ? conditionFailure("If-Unmodified-Since", "ConditionNotMet")
    : passed;
}

function unmatchedCode(
  list: ETagList | undefined,
  { notAnETagCode, outOfRangeCode }: WriteCheck,
): FaultCode | undefined {
  if (notAnETagCode !== undefined && namesNoETag(list)) return notAnETagCode;
  if (outOfRangeCode === undefined || list === undefined || list === "*") return undefined;
  return list.every(isETagOutOfRange) ? outOfRangeCode : undefined;
}

function conditionFailure(failedCondition: ConditionName, code: FaultCode): Failure {
  return fail(code, { failedCondition });
}

/** The conditional header that made a read respond with 304, which the request feed shows. */
export function unmodifiedBy({ ifNoneMatch }: Conditions): ConditionName {
  return ifNoneMatch === undefined ? "If-Modified-Since" : "If-None-Match";
}

/** Evaluates each header by itself; the callers combine the results. A result is undefined if the
 *  header is absent or the target does not exist; ETag conditions are evaluated without a target,
 *  too. */
function evaluate(conditions: Conditions, target: ConditionTarget | undefined) {
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions;
  const changed =
    target === undefined ? undefined : truncateToSecond(target.lastModified ?? target.etag);
  return {
    matches: ifMatch && includesETag(ifMatch, target),
    noneMatches: ifNoneMatch && !includesETag(ifNoneMatch, target),
    modified: compareDates(changed, ifModifiedSince, (change, date) => change > date),
    unmodified: compareDates(changed, ifUnmodifiedSince, (change, date) => change <= date),
  };
}

function includesETag(list: ETagList, target: ConditionTarget | undefined): boolean {
  if (target === undefined) return false;
  return list === "*" || list.includes(bareETag(target.etag));
}

function compareDates(
  changed: Ticks | undefined,
  date: Ticks | undefined,
  holds: (change: Ticks, date: Ticks) => boolean,
): boolean | undefined {
  return changed === undefined || date === undefined ? undefined : holds(changed, date);
}

/** A failed tag condition has the code ConditionNotMet, also in copies (recorded from Azure). */
function checkTagCondition(
  { ifTags }: Conditions,
  target: ConditionTarget | undefined,
): Result<undefined> {
  if (ifTags === undefined || matchesTags(ifTags, target?.tags)) return passed;
  return conditionFailure("x-ms-if-tags", "ConditionNotMet");
}

function isWriteCombination(conditions: Conditions): boolean {
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions;
  if (isSeveral(ifMatch) || isSeveral(ifNoneMatch)) return false;
  if (ifMatch !== undefined) return ifNoneMatch === undefined && ifModifiedSince === undefined;
  return ifUnmodifiedSince === undefined || (ifNoneMatch ?? ifModifiedSince) === undefined;
}

function isSeveral(list: ETagList | undefined): boolean {
  return list !== undefined && list !== "*" && list.length > 1;
}

/** Whether no value of the list can be an ETag; some copies have a fault code for this case. */
export function namesNoETag(list: ETagList | undefined): boolean {
  return list !== undefined && list !== "*" && !list.some(isETag);
}

/** Formats an ETag without quotes, as in listings: `0x8D9A30B68B73CB9`. */
export function bareETag(newETag: Ticks): string {
  return `0x${newETag.toString(16).toUpperCase()}`;
}

/** Formats an ETag with quotes, as in headers. It is the time of the change, so equal ETags mean
 *  the same change. */
export function formatETag(newETag: Ticks): string {
  return `"${bareETag(newETag)}"`;
}

/** Returns an ETag greater than the previous one, also for two changes within one tick or after the
 *  clock was set back. */
export function nextETag(now: Ticks, previous?: Ticks): Ticks {
  return previous === undefined || now > previous ? now : previous + 1n;
}

const bareETagPattern = /^0x[0-9A-Fa-f]{1,16}$/;

/** Whether the text can be an ETag. Some copies have a separate fault code if it cannot. */
export function isETag(text: string): boolean {
  return bareETagPattern.test(unquoted(text));
}

/** The time in a quoted ETag of this server; undefined if it has another form. */
export function parseETag(text: string): Ticks | undefined {
  const bare = unquoted(text);
  return bareETagPattern.test(bare) ? BigInt(bare) : undefined;
}

/** Whether an unquoted value has the format of an ETag but is outside the times of the service. */
function isETagOutOfRange(text: string): boolean {
  if (!bareETagPattern.test(text)) return false;
  const ticks = BigInt(text);
  return ticks < fileTimeStart || ticks > ticksMax;
}

/** The values of If-Match or If-None-Match without quotes. */
type ETagList = "*" | readonly string[];

/** Most values of one header; others are ignored, so that no header can make a request slow. */
const etagsInHeaderMax = 1000;

/** Parses an If-Match or If-None-Match header; undefined if it has no values. A weak ETag keeps its
 *  prefix `W/`, which no stored ETag has, so it never matches. */
export function parseETagList(header: string): ETagList | undefined {
  const text = header.trim();
  if (text === "*") return "*";
  const tags: string[] = [];
  let at = 0;
  while (at < text.length && tags.length < etagsInHeaderMax) {
    const quoted = text[at] === '"';
    const close = quoted ? text.indexOf('"', at + 1) : -1;
    const end = text.indexOf(",", close === -1 ? at : close);
    const tag = text.slice(at, end === -1 ? text.length : end).trim();
    if (tag !== "") tags.push(unquoted(tag));
    at = end === -1 ? text.length : end + 1;
    while (text[at] === " " || text[at] === "\t") at += 1;
  }
  return tags.length === 0 ? undefined : tags;
}

function unquoted(text: string): string {
  return text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}
