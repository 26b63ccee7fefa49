import { checkContainerName, checkResourceName, checkTableName } from "../protocol/names.ts";

/** Reads JSON objects of the configuration and of the admin API by tables of their fields, and
 *  collects one line per problem, so that an operator sees all problems at once. The parsers of
 *  account settings, identities and subscriptions in this folder declare their tables with it. */

/** The parsed value, or one line for each problem of the configuration. */
export type SettingsResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Most texts in a list; and of unknown fields, how many a message names, and how long. */
const textsMax = 1024;
const unknownShownMax = 10;
const unknownUnitsMax = 80;

/** A field while it is read. Values are not quoted in problems unless a form does: they may be
 *  secrets. */
export class FieldPlace {
  /** Names the object, at the start of each problem. */
  readonly where: string;
  readonly field: string;
  readonly problems: string[];

  constructor(where: string, field: string, problems: string[]) {
    this.where = where;
    this.field = field;
    this.problems = problems;
  }

  refuse(why: string): undefined {
    this.problems.push(`${this.where}: "${this.field}" ${why}`);
    return undefined;
  }
}

/** Reads the value of a field, which is undefined if the field is absent. Returns undefined for an
 *  absent value, and for a wrong one after it has reported the problem. */
export type Form<T> = (value: unknown, place: FieldPlace) => T | undefined;

/** The forms of the fields of an object, by name. */
type FieldTable = Readonly<Record<string, Form<unknown>>>;

/** The fields of an object as a table reads them. */
type FieldValues<T extends FieldTable> = { readonly [N in keyof T]: ReturnType<T[N]> };

/** The fields as users write them: each may be absent. */
export type FieldInputs<T extends FieldTable> = {
  readonly [N in keyof T]?: NonNullable<ReturnType<T[N]>>;
};

/** Reads an object by the table of its fields. Reports fields that the table lacks; if there are
 *  many, only the first ones. */
export function readFields<T extends FieldTable>(
  where: string,
  value: unknown,
  { fields, problems }: { readonly fields: T; readonly problems: string[] },
): FieldValues<T> {
  const object = isObject(value) ? value : {};
  if (!isObject(value)) problems.push(`${where}: must be an object`);
  const read = Object.entries(fields).map(([field, form]) => [
    field,
    form(object[field], new FieldPlace(where, field, problems)),
  ]);
  const unknown = Object.keys(object).filter((field) => !Object.hasOwn(fields, field));
  for (const field of unknown.slice(0, unknownShownMax)) {
    problems.push(`${where}: there is no setting "${field.slice(0, unknownUnitsMax)}"`);
  }
  return Object.fromEntries(read) as FieldValues<T>;
}

/** Which texts a field accepts. */
export interface TextForm {
  readonly pattern: RegExp;
  /** A noun phrase for messages, for example "1 to 128 letters". */
  readonly allowed: string;
}

/** Accepts more than Azure: Azurite allows any name, and tests use capitals and underscores. */
export const accountNameForm: TextForm = {
  pattern: /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/,
  allowed: "1 to 128 letters, digits and . _ ~ -, the first one a letter or digit",
};

export function text({ pattern, allowed }: TextForm): Form<string> {
  return acceptedText((value) => pattern.test(value), allowed);
}

function acceptedText(accepts: (value: string) => boolean, allowed: string): Form<string> {
  return (value, place) => {
    if (value === undefined || (typeof value === "string" && accepts(value))) return value;
    return place.refuse(`must be ${allowed}`);
  };
}

const resourceCharacters = "3 to 63 lower-case letters, digits and single hyphens";
/** The name of a queue or share. */
export const resourceName = acceptedText(
  (name) => checkResourceName(name).ok,
  `a name of ${resourceCharacters}`,
);
export const containerName = acceptedText(
  (name) => checkContainerName(name).ok,
  `a name of ${resourceCharacters}, or a container of the system, as $web`,
);
export const tableName = acceptedText(
  (name) => checkTableName(name).ok,
  "a name of 3 to 63 letters and digits, the first one a letter, but not `tables`",
);

export function texts({ pattern, allowed }: TextForm): Form<readonly string[]> {
  return (value, place) => {
    if (value === undefined) return undefined;
    const list: readonly unknown[] = Array.isArray(value) ? value : [undefined];
    const isText = (one: unknown): one is string => typeof one === "string" && pattern.test(one);
    const found = list.filter(isText);
    if (found.length === list.length && found.length <= textsMax) return found;
    return place.refuse(`must be a list of at most ${textsMax}, each ${allowed}`);
  };
}

export const flag: Form<boolean> = (value, place) => {
  if (value === undefined || typeof value === "boolean") return value;
  return place.refuse("must be true or false");
};

interface WholeRange {
  readonly min: number;
  readonly max: number;
  /** What is counted, for messages. */
  readonly unit?: string;
}

export function whole({ min, max, unit }: WholeRange): Form<number> {
  const number = unit === undefined ? "a whole number" : `a whole number of ${unit}`;
  return (value, place) => {
    if (value === undefined) return undefined;
    const isWhole = typeof value === "number" && Number.isInteger(value);
    if (isWhole && value >= min && value <= max) return value;
    return place.refuse(`must be ${number}, ${min} to ${max}`);
  };
}

export function required<T>(form: Form<T>): Form<T> {
  return (value, place) => (value === undefined ? place.refuse("is missing") : form(value, place));
}
