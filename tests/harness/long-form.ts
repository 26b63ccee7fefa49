/** Set by `npm run proof`, which runs all test files that import this one a second time. */
const isLong = process.env["ETAGERE_LONG_TESTS"] === "1";

/** How often, or on how much, a test repeats what it does: the first value in `npm test`, which has
 *  minutes, the second in `npm run proof`. Both must be able to show the failure. */
export function inForm<T>(short: T, long: T): T {
  return isLong ? long : short;
}
