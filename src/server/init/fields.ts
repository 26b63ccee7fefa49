/** A value of the input and the path of its field, such as `containers.photos.access`. */
export interface Field {
  readonly path: string;
  readonly value: unknown;
}

const namePart = /^[A-Za-z0-9_$-]+$/;

/** Collects the problems of an input, each with the path of its field. */
export class FieldReader {
  readonly problems: string[] = [];

  refuse({ path }: Field, why: string): undefined {
    this.problems.push(path === "" ? why : `${path}: ${why}`);
    return undefined;
  }

  /** The fields of an object; reports those that are not among `known`. */
  object(field: Field, known: readonly string[]): (name: string) => Field {
    const object = this.#entriesOf(field);
    for (const name of object.keys()) {
      if (!known.includes(name)) {
        this.refuse(part(field, name, undefined), `no such field; there are ${known.join(", ")}`);
      }
    }
    return (name) => part(field, name, object.get(name));
  }

  /** The entries of an object whose names the user chooses. */
  map(field: Field): readonly (readonly [string, Field])[] {
    return [...this.#entriesOf(field)].map(([name, value]) => [name, part(field, name, value)]);
  }

  list(field: Field): readonly Field[] {
    if (field.value === undefined) return [];
    if (!Array.isArray(field.value)) return this.refuse(field, "must be a list") ?? [];
    const values: readonly unknown[] = field.value;
    return values.map((value, index) => ({ path: `${field.path}[${index}]`, value }));
  }

  text(field: Field): string | undefined {
    if (field.value === undefined || typeof field.value === "string") return field.value;
    return this.refuse(field, "must be a text");
  }

  /** Metadata and tags: texts by name. */
  texts(field: Field): readonly (readonly [string, string])[] {
    return this.map(field).flatMap(([name, each]) => {
      const text = this.text(each);
      return text === undefined ? [] : [[name, text] as const];
    });
  }

  #entriesOf(field: Field): ReadonlyMap<string, unknown> {
    const { value } = field;
    if (value === undefined) return new Map();
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return new Map(Object.entries(value));
    }
    this.refuse(field, "must be an object");
    return new Map();
  }
}

function part({ path }: Field, name: string, value: unknown): Field {
  if (!namePart.test(name)) return { path: `${path}[${JSON.stringify(name)}]`, value };
  return { path: path === "" ? name : `${path}.${name}`, value };
}
