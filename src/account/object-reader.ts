/** The parsed value, or one line for each problem of the configuration. */
export type SettingsResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] };

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const textsMax = 1024;

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

  /** Undefined after a problem. */
  text(field: string, form: RegExp): string | undefined {
    if (this.#object[field] !== undefined) return this.optionalText(field, form);
    this.#read.add(field);
    this.refuse(field, "is missing");
    return undefined;
  }

  optionalText(field: string, form: RegExp): string | undefined {
    this.#read.add(field);
    const value = this.#object[field];
    if (value === undefined || (typeof value === "string" && form.test(value))) return value;
    this.refuse(field, `must be a text of the form ${form.source}`);
    return undefined;
  }

  texts(field: string, form: RegExp): readonly string[] | undefined {
    this.#read.add(field);
    const value = this.#object[field];
    if (value === undefined) return undefined;
    const list: readonly unknown[] = Array.isArray(value) ? value : [undefined];
    const texts = list.filter((one): one is string => typeof one === "string" && form.test(one));
    if (texts.length === list.length && texts.length <= textsMax) return texts;
    this.refuse(field, `must be a list of at most ${textsMax} texts of the form ${form.source}`);
    return undefined;
  }

  object(field: string): unknown {
    this.#read.add(field);
    return this.#object[field];
  }

  /** Reports fields that were not read. */
  end(): void {
    for (const field of Object.keys(this.#object)) {
      if (!this.#read.has(field)) {
        this.#problems.push(`${this.#where}: there is no setting "${field}"`);
      }
    }
  }
}
