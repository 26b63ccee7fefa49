/** This program has broken a promise that it makes about stored data: a bug. */
export class InvariantBroken extends Error {
  override readonly name = "InvariantBroken";
}

/** Guards stored data where a wrong value would be written. It throws before anything is stored:
 *  the request is answered with 500 and logged, and what is stored stays as it was. `describe` is
 *  called only then. */
export function ensure(holds: boolean, describe: () => string): asserts holds {
  if (!holds) throw new InvariantBroken(describe());
}
