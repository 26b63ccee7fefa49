/** Why an import did not happen. The target is as it was. */
export class ImportRefused extends Error {
  override readonly name = "ImportRefused";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(problems.join("\n"), { cause });
    this.problems = problems;
  }
}
