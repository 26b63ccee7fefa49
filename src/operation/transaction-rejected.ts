import type { Outcome } from "./execute.ts";

/** Thrown inside the transaction of `executeAll`, so that no operation is committed. `executeAll`
 *  catches it and returns it to its caller. `index` (from 0) is the operation that failed,
 *  `outcome` its outcome. */
export class TransactionRejected extends Error {
  override readonly name = "TransactionRefused";
  readonly index: number;
  readonly outcome: Outcome;

  constructor(index: number, outcome: Outcome) {
    super(`the operation at index ${index} was rejected`);
    this.index = index;
    this.outcome = outcome;
  }
}
