import { formatIso, parseIso } from "../../base/dates.ts";
import { ticksMax, ticksPerSecond, type Ticks } from "../../base/ticks.ts";

const withoutZone = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,7})?)?$/;

/** The Java library sends nanoseconds: nine digits after the point. */
const fractionDigitsMax = 9;
const longFraction = new RegExp(`^(.{19}\\.\\d{7})(\\d{1,${fractionDigitsMax - 7}})(.*)$`);

/** Without a zone it is UTC (recorded). Digits beyond 100 ns are rounded, a half to the even. */
export function parseDateTime(text: string): Ticks | undefined {
  const trimmed = text.trim();
  const [, kept, beyond = "", zone = ""] = longFraction.exec(trimmed) ?? [];
  if (kept === undefined) return parseWhole(trimmed);
  const ticks = parseWhole(kept + zone);
  const rounded = ticks === undefined ? undefined : ticks + roundedUp(beyond, ticks);
  return rounded === undefined || rounded > ticksMax ? undefined : rounded;
}

function parseWhole(text: string): Ticks | undefined {
  return parseIso(withoutZone.test(text) ? `${text}Z` : text);
}

function roundedUp(beyond: string, ticks: Ticks): Ticks {
  const part = Number(`0.${beyond}`);
  if (part === 0.5) return ticks % 2n;
  return part > 0.5 ? 1n : 0n;
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
