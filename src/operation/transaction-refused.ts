import type { Outcome } from "./execute.ts";

/** Thrown to leave the transaction without committing what its earlier operations wrote. */
export class TransactionRefused extends Error {
  override readonly name = "TransactionRefused";
  readonly index: number;
  readonly outcome: Outcome;

  constructor(index: number, outcome: Outcome) {
    super(`operation ${index} was refused`);
    this.index = index;
    this.outcome = outcome;
  }
}
