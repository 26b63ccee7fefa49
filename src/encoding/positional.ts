/** The fields of a record in a fixed order. Records with a shape are stored as arrays of their
 *  values in this order: without field names they are shorter and several times faster to decode.
 *  New fields are appended to a shape; none is ever removed. */
export type Shape<T> = { readonly [K in keyof T]-?: true | Shape<NonNullable<T[K]>> };

/** A field of a shape; `shape` is undefined unless its value is a record with a shape of its
 *  own. */
interface Position {
  readonly name: string;
  readonly shape: Positions | undefined;
}

export type Positions = readonly Position[];

/** Converts a shape to the list that `toValues` and `fromValues` use. */
export function positionsOf<T>(shape: Shape<T>): Positions {
  return Object.entries<unknown>(shape).map(([name, inner]) => ({
    name,
    shape: inner === true ? undefined : positionsOf(inner as Shape<Record<string, unknown>>),
  }));
}

/** The values of a record by position, null for undefined fields. The array ends with the last
 *  defined field. */
export function toValues(positions: Positions, record: object): unknown[] {
  const fields = record as Readonly<Record<string, unknown>>;
  const values: unknown[] = [];
  for (let at = 0; at < positions.length; at += 1) {
    const { name, shape } = positions[at]!;
    const value = fields[name];
    if (value === undefined) continue;
    while (values.length < at) values.push(null);
    values.push(shape === undefined ? value : toValues(shape, value as object));
  }
  return values;
}

/** Inverse of `toValues`. */
export function fromValues(positions: Positions, values: readonly unknown[]): object {
  const record: Record<string, unknown> = {};
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at];
    if (value === null) continue;
    const { name, shape } = positions[at]!;
    record[name] = shape === undefined ? value : fromValues(shape, value as unknown[]);
  }
  return record;
}
