/** Why an export or a load was not carried out. No account has changed. */
export class ArchiveRefused extends Error {
  override readonly name = "ArchiveRefused";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(problems.join("\n"), { cause });
    this.problems = problems;
  }
}

/** Why an import failed. The target is unchanged. */
export class ImportRefused extends Error {
  override readonly name = "ImportRefused";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(problems.join("\n"), { cause });
    this.problems = problems;
  }
}
