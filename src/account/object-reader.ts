/** Reads JSON objects of the configuration and of the admin API field by field, and collects one
 *  line per problem, so that an operator sees all problems at once. Used by the parsers of
 *  identities and subscriptions in this folder. */

/** The parsed value, or one line for each problem of the configuration. */
export type SettingsResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const textsMax = 1024;
const unknownShownMax = 10;
const unknownUnitsMax = 80;

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

/** Reads the fields of an object of the configuration and collects one line per problem. Values are
 *  not quoted in messages unless the caller does: they may be secrets. */
export class ObjectReader {
  readonly #where: string;
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #problems: string[];
  readonly #read = new Set<string>();

  constructor(where: string, value: unknown, problems: string[]) {
    this.#where = where;
    this.#object = isObject(value) ? value : {};
    this.#problems = problems;
    if (!isObject(value)) problems.push(`${where}: must be an object`);
  }

  refuse(field: string, why: string): void {
    this.#problems.push(`${this.#where}: "${field}" ${why}`);
  }

  /** Reads a text. Undefined if it has a problem, which is then in `problems`. */
  text(field: string, form: TextForm): string | undefined {
    if (this.#object[field] !== undefined) return this.optionalText(field, form);
    this.#read.add(field);
    this.refuse(field, "is missing");
    return undefined;
  }

  optionalText(field: string, form: TextForm): string | undefined {
    this.#read.add(field);
    const value = this.#object[field];
    if (value === undefined || (typeof value === "string" && form.pattern.test(value)))
      return value;
    this.refuse(field, `must be ${form.allowed}`);
    return undefined;
  }

  texts(field: string, form: TextForm): readonly string[] | undefined {
    this.#read.add(field);
    const value = this.#object[field];
    if (value === undefined) return undefined;
    const list: readonly unknown[] = Array.isArray(value) ? value : [undefined];
    const isText = (one: unknown): one is string =>
      typeof one === "string" && form.pattern.test(one);
    const texts = list.filter(isText);
    if (texts.length === list.length && texts.length <= textsMax) return texts;
    this.refuse(field, `must be a list of at most ${textsMax}, each ${form.allowed}`);
    return undefined;
  }

  object(field: string): unknown {
    this.#read.add(field);
    return this.#object[field];
  }

  /** Reports fields that were not read; if there are many, only the first ones. */
  end(): void {
    const unknown = Object.keys(this.#object).filter((field) => !this.#read.has(field));
    for (const field of unknown.slice(0, unknownShownMax)) {
      const shown = field.slice(0, unknownUnitsMax);
      this.#problems.push(`${this.#where}: there is no setting "${shown}"`);
    }
  }
}
