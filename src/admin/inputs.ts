/** What is wrong with a value, in words that follow its name; undefined if nothing is. */
export type Check = (value: unknown) => string | undefined;

/** By the names of what may be given; nothing else may. */
export type Checks = Readonly<Record<string, Check>>;

const textUnitsMax = 2048;
const shownUnitsMax = 80;
const idMax = 2n ** 64n - 1n;
/** Half of a pair: it has no form in UTF-8, and so none in an address. */
const loneSurrogate = /\p{Surrogate}/u;

/** The first mistake in what was given, in a sentence that names it. */
export function findInputError(given: Readonly<Record<string, unknown>>, checks: Checks) {
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(checks, name));
  if (unknown !== undefined) return `${asGiven(unknown)} is not known here: ${knownOf(checks)}`;
  for (const [name, check] of Object.entries(checks)) {
    const wrong = check(given[name]);
    if (wrong !== undefined) return `${name} ${wrong}`;
  }
  return undefined;
}

/** As `mistakeIn`, for the parameters of an address. */
export function mistakeInQuery(query: URLSearchParams, checks: Checks): string | undefined {
  const names = [...query.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return findInputError(Object.fromEntries(query), checks) ?? (twice && `${twice} is given twice`);
}

function knownOf(checks: Checks): string {
  const names = Object.keys(checks);
  return names.length === 0 ? "it takes no parameters" : `it takes ${names.join(", ")}`;
}

/** Nothing at all, or an empty text, is as good as left out. */
export function isMissing(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

export function optional(check: Check): Check {
  return (value) => (isMissing(value) ? undefined : check(value));
}

export const aText: Check = (value) => {
  if (isMissing(value)) return "is missing";
  if (typeof value !== "string") return `must be text, not ${asGiven(value)}`;
  if (value.length > textUnitsMax) return `is longer than ${textUnitsMax} characters`;
  return loneSurrogate.test(value) ? "is not well-formed Unicode" : undefined;
};

export function oneOf(values: readonly string[]): Check {
  const last = values.at(-1) ?? "";
  const list = values.length > 1 ? `${values.slice(0, -1).join(", ")} or ${last}` : last;
  return (value) => {
    if (isMissing(value)) return `is missing: ${list}`;
    const isKnown = typeof value === "string" && values.includes(value);
    return isKnown ? undefined : `must be ${list}, not ${asGiven(value)}`;
  };
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

/** A whole number, in JSON. */
export function whole({ min, max }: Range): Check {
  return (value) => {
    const isWithin = typeof value === "number" && value >= min && value <= max;
    if (isWithin && Number.isInteger(value)) return undefined;
    return `must be a whole number from ${min} to ${max}, not ${asGiven(value)}`;
  };
}

/** A whole number, in an address. */
export function wholeText({ min, max }: Range): Check {
  return (value) => {
    const isDigits = typeof value === "string" && /^\d{1,9}$/.test(value);
    if (isDigits && Number(value) >= min && Number(value) <= max) return undefined;
    return `must be a whole number from ${min} to ${max}, not ${asGiven(value)}`;
  };
}

/** Ids are strings in our answers; a number is taken as well where it is exact. */
export const anId: Check = (value) => {
  if (isMissing(value)) return "is missing";
  const isDigits = typeof value === "string" && /^\d{1,20}$/.test(value);
  const isText = isDigits && BigInt(value) <= idMax;
  const isId = isText || (Number.isSafeInteger(value) && Number(value) >= 0);
  return isId ? undefined : `must be an id, a whole number of up to 64 bits, not ${asGiven(value)}`;
};

/** As it was given, but not all of something long. */
export function asGiven(value: unknown): string {
  const told = JSON.stringify(value) ?? String(value);
  return told.length <= shownUnitsMax ? told : `${told.slice(0, shownUnitsMax)}…`;
}
