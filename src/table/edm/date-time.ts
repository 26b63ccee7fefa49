import { memo } from "../../process/memo.ts";
import { formatIso, parseIso } from "../../base/dates.ts";
import { ticksMax, ticksPerSecond, type Ticks } from "../../base/ticks.ts";

const withoutZone = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,7})?)?$/;

/** The Java client library sends nanoseconds, which are nine digits after the point. */
const fractionDigitsMax = 9;
const longFraction = new RegExp(`^(.{19}\\.\\d{7})(\\d{1,${fractionDigitsMax - 7}})(.*)$`);

/** Parses an ISO 8601 time; undefined if it is malformed. A time without a zone is UTC (recorded).
 *  Digits beyond 100 ns are rounded half to even. */
export function parseDateTime(text: string): Ticks | undefined {
  const trimmed = text.trim();
  const [, sevenDigits, furtherDigits = "", zone = ""] = longFraction.exec(trimmed) ?? [];
  if (sevenDigits === undefined) return parseTicks(trimmed);
  const ticks = parseTicks(sevenDigits + zone);
  const rounded = ticks === undefined ? undefined : ticks + roundingTicks(furtherDigits, ticks);
  return rounded === undefined || rounded > ticksMax ? undefined : rounded;
}

function parseTicks(text: string): Ticks | undefined {
  return parseIso(withoutZone.test(text) ? `${text}Z` : text);
}

function roundingTicks(furtherDigits: string, ticks: Ticks): Ticks {
  const fraction = Number(`0.${furtherDigits}`);
  if (fraction === 0.5) return ticks % 2n;
  return fraction > 0.5 ? 1n : 0n;
}

/** Entities of one page often have the same second. */
const textOfSecond = memo(1024, (second: number) =>
  formatIso(BigInt(second) * ticksPerSecond).slice(0, "0000-00-00T00:00:00".length),
);

/** Formats as the service does: without trailing zeros of the fraction. */
export function formatDateTime(ticks: Ticks): string {
  const text = textOfSecond(Number(ticks / ticksPerSecond));
  const fraction = Number(ticks % ticksPerSecond);
  if (fraction === 0) return `${text}Z`;
  const digits = String(10_000_000 + fraction);
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end -= 1;
  return `${text}.${digits.slice(1, end)}Z`;
}
