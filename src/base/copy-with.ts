/** A copy of an object with further or other fields, for frequently executed code: V8 takes almost
 *  1 µs per new field for `{ ...source, field }`, ten times as long as for this. */
export function copyWith<T extends object, F extends object>(
  source: T,
  fields: F,
): Omit<T, keyof F> & F {
  return Object.assign({}, source, fields);
}
