import { formatIso, parseIso } from "../../core/dates.ts";
import type { Ticks } from "../../core/ticks.ts";

const withoutZone = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,7})?)?$/;

/** Without a zone it is UTC (recorded). */
export function parseDateTime(text: string): Ticks | undefined {
  const trimmed = text.trim();
  return parseIso(withoutZone.test(trimmed) ? `${trimmed}Z` : trimmed);
}

/** As the service writes it: no more digits of the fraction than it needs, and none if it is 0. */
export function formatDateTime(ticks: Ticks): string {
  const full = formatIso(ticks);
  let end = full.length - 1;
  while (full[end - 1] === "0") end -= 1;
  if (full[end - 1] === ".") end -= 1;
  return `${full.slice(0, end)}Z`;
}
