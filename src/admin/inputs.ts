import { parseIso } from "../base/dates.ts";

/** A check of a parameter or body field of the admin API: routes declare one for each value that
 *  they accept. Returns the problem as text that follows the parameter's name in the message ("is
 *  missing"), or undefined if the value is valid. */
export type Check = (value: unknown) => string | undefined;

/** Checks by parameter name; other parameters are rejected. */
export type Checks = Readonly<Record<string, Check>>;

/** Limits of texts in UTF-16 code units, and of the value that an error message quotes. */
const textUnitsMax = 2048;
const longTextUnitsMax = 16 * 1024;
const shownUnitsMax = 80;
const idMax = 2n ** 64n - 1n;
/** Half of a surrogate pair, which UTF-8 cannot encode. */
const loneSurrogate = /\p{Surrogate}/u;

/** The first problem in the values, as a sentence with the parameter's name; else undefined. */
export function findInputError(given: Readonly<Record<string, unknown>>, checks: Checks) {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(checks, name));
  if (unknown !== undefined) return `${formatValue(unknown)} is unknown: ${knownOf(checks)}`;
  for (const [name, check] of Object.entries(checks)) {
    const wrong = check(given[name]);
    if (wrong !== undefined) return `${name} ${wrong}`;
  }
  return undefined;
}

/** The first problem in the query parameters; a parameter that occurs twice is one, too. */
export function findQueryError(query: URLSearchParams, checks: Checks): string | undefined {
  const names = [...query.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return findInputError(Object.fromEntries(query), checks) ?? (twice && `${twice} is given twice`);
}

function knownOf(checks: Checks): string {
  const names = Object.keys(checks);
  return names.length === 0 ? "no parameters are accepted" : `accepted are ${names.join(", ")}`;
}

/** Whether a value counts as absent: null and empty text do. */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/** Returns a check that accepts an absent value, too. */
export function optional(check: Check): Check {
  return (value) => (isMissing(value) ? undefined : check(value));
}

export const textCheck = textUpTo(textUnitsMax);
/** For bearer tokens, which are longer than other texts. */
export const longTextCheck = textUpTo(longTextUnitsMax);

function textUpTo(unitsMax: number): Check {
  return (value) => {
    if (isMissing(value)) return "is missing";
    if (typeof value !== "string") return `must be text, not ${formatValue(value)}`;
    if (value.length > unitsMax) return `is longer than ${unitsMax} characters`;
    return loneSurrogate.test(value) ? "is not well-formed Unicode" : undefined;
  };
}

export function oneOf(values: readonly string[]): Check {
  const last = values.at(-1) ?? "";
  const list = values.length > 1 ? `${values.slice(0, -1).join(", ")} or ${last}` : last;
  return (value) => {
    if (isMissing(value)) return `is missing: ${list}`;
    const isKnown = typeof value === "string" && values.includes(value);
    return isKnown ? undefined : `must be ${list}, not ${formatValue(value)}`;
  };
}

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Returns a check of a number in a JSON body. */
export function wholeNumber({ min, max }: Range): Check {
  return (value) => {
    const isWithin = typeof value === "number" && value >= min && value <= max;
    if (isWithin && Number.isInteger(value)) return undefined;
    return `must be a whole number from ${min} to ${max}, not ${formatValue(value)}`;
  };
}

/** Returns a check of a number in a query, which is text: it accepts decimal digits only. */
export function wholeNumberText({ min, max }: Range): Check {
  return (value) => {
    const isDigits = typeof value === "string" && /^\d{1,9}$/.test(value);
    if (isDigits && Number(value) >= min && Number(value) <= max) return undefined;
    return `must be a whole number from ${min} to ${max}, not ${formatValue(value)}`;
  };
}

/** Accepts the id of a file or handle, a whole number of 64 bits. Responses contain ids as strings,
 *  because JavaScript rounds numbers above 2^53; smaller ones are accepted as numbers, too. */
export const idCheck: Check = (value) => {
  if (isMissing(value)) return "is missing";
  const isDigits = typeof value === "string" && /^\d{1,20}$/.test(value);
  const isText = isDigits && BigInt(value) <= idMax;
  const isId = isText || (Number.isSafeInteger(value) && Number(value) >= 0);
  return isId
    ? undefined
    : `must be an id, a whole number of up to 64 bits, not ${formatValue(value)}`;
};

/** Accepts a time in the form of ISO 8601. */
export const timeCheck: Check = (value) => {
  const isTime = typeof value === "string" && parseIso(value) !== undefined;
  return isTime
    ? undefined
    : `must be a time such as 2026-01-01T00:00:00Z, not ${formatValue(value)}`;
};

/** The value as JSON for an error message, shortened to 80 characters. */
export function formatValue(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  return json.length <= shownUnitsMax ? json : `${json.slice(0, shownUnitsMax)}…`;
}
