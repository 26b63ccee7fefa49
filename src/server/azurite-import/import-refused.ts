/** Why an import failed. The target is unchanged. */
export class ImportRefused extends Error {
  override readonly name = "ImportRefused";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(problems.join("\n"), { cause });
    this.problems = problems;
  }
}
