const millisecondsPerUnit: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const form = /^(\d+(?:\.\d+)?) ?(ms|s|m|h|d)$/;

/** A hundred years. */
export const durationMillisecondsMax = 36_525 * 86_400_000;

/** Milliseconds of a duration: a number of milliseconds, or a text such as "250ms", "61s", "15m",
 *  "2h" or "7d". Throws `RangeError` for anything else. */
export function parseDuration(duration: string | number, name = "duration"): number {
  const milliseconds = typeof duration === "number" ? duration : parseText(duration);
  if (milliseconds >= 0 && milliseconds <= durationMillisecondsMax) return milliseconds;
  throw new RangeError(
    `${name}: must be milliseconds or a text such as "61s" (ms, s, m, h, d), 0 to 100 years, ` +
      `not ${JSON.stringify(duration)}`,
  );
}

function parseText(text: string): number {
  const [, amount = "", unit = ""] = form.exec(text) ?? [];
  return Number(amount === "" ? NaN : amount) * (millisecondsPerUnit[unit] ?? NaN);
}
