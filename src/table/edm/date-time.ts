import { formatIso, parseIso } from "../../core/dates.ts";
import { ticksPerSecond, type Ticks } from "../../core/ticks.ts";

const withoutZone = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,7})?)?$/;

/** Without a zone it is UTC (recorded). */
export function parseDateTime(text: string): Ticks | undefined {
  const trimmed = text.trim();
  return parseIso(withoutZone.test(trimmed) ? `${trimmed}Z` : trimmed);
}

/** Entities that were written together share their second; more are not worth keeping. */
const cachedSecondsMax = 1024;
const textsBySecond = new Map<number, string>();

/** As the service writes it: no more digits of the fraction than it needs, and none if it is 0. */
export function formatDateTime(ticks: Ticks): string {
  const second = Number(ticks / ticksPerSecond);
  const text = textsBySecond.get(second) ?? formatSecond(ticks, second);
  const fraction = Number(ticks % ticksPerSecond);
  if (fraction === 0) return `${text}Z`;
  const digits = String(10_000_000 + fraction);
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end -= 1;
  return `${text}.${digits.slice(1, end)}Z`;
}

function formatSecond(ticks: Ticks, second: number): string {
  if (textsBySecond.size >= cachedSecondsMax) textsBySecond.clear();
  const text = formatIso(ticks).slice(0, "0000-00-00T00:00:00".length);
  textsBySecond.set(second, text);
  return text;
}
