import type { Outcome } from "./execute.ts";

/** Thrown to abort the transaction, so that the writes of earlier operations are not committed. */
export class TransactionRejected extends Error {
  override readonly name = "TransactionRefused";
  readonly index: number;
  readonly outcome: Outcome;

  constructor(index: number, outcome: Outcome) {
    super(`operation ${index} was refused`);
    this.index = index;
    this.outcome = outcome;
  }
}
