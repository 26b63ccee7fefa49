/** How much of a step there is to do, or is done. Fields that are undefined are not known, or do
 *  not apply. */
export interface Amount {
  readonly items?: number | undefined;
  readonly bytes?: number | undefined;
}

export interface ProgressStep {
  /** What is done: "copying contents". */
  readonly what: string;
  /** What the items are, in the plural; "records" unless given. */
  readonly itemName?: string | undefined;
  readonly total: Amount;
}

/** Receives the progress of a command that may take long. */
export interface Progress {
  /** Ends the step before, if there is one. */
  begin(step: ProgressStep): void;
  add(done: Amount): void;
}

/** For callers that show no progress. */
export const noProgress: Progress = { begin() {}, add() {} };
