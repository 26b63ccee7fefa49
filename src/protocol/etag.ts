import type { Ticks } from "../base/ticks.ts";

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

/** Whether the text can be an ETag; some copy operations have another fault code if it cannot. */
export function isETag(text: string): boolean {
  return bareETagPattern.test(unquoted(text));
}

/** 1601-01-01 and the end of 9999, which bound the times of the service. */
const oldestTicks = 504_911_232_000_000_000n;
const latestTicks = 3_155_378_975_999_999_999n;

/** Whether an unquoted value has the format of an ETag but is outside the times of the service. */
export function isETagOutOfRange(text: string): boolean {
  if (!bareETagPattern.test(text)) return false;
  const ticks = BigInt(text);
  return ticks < oldestTicks || ticks > latestTicks;
}

/** The values of If-Match or If-None-Match without quotes. */
export type ETagList = "*" | readonly string[];

/** Values after this many are ignored. */
export const etagsInHeaderMax = 1000;

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
