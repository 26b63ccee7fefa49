/** A rule that every code path keeps does not hold: a bug, or damaged data. The transaction that
 *  notices it is not committed, so that stored data does not get worse. Clients get 500. */
export class InvariantBroken extends Error {
  override readonly name = "InvariantBroken";

  /** `rule` says what holds; `found` is what was found instead. */
  constructor(rule: string, found: unknown) {
    super(`${rule}, but found ${String(found)}`);
  }
}
