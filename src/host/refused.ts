/** Errors whose cause is the user's input or the system, and not a bug: commands print them without
 *  a stack. */

/** An error that the user can correct (a wrong option), with one message per problem. */
export class Refused extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(problems.join("\n"), { cause });
    this.problems = problems;
  }
}

/** Thrown if a server cannot start, because of an option, a port or the data. */
export class StartRefused extends Refused {
  override readonly name = "StartRefused";
}

/** Thrown if an export or a load of an archive is not carried out. No account has changed. */
export class ArchiveRefused extends Refused {
  override readonly name = "ArchiveRefused";
}

/** Thrown if an import of data from Azurite fails. The target is unchanged. */
export class ImportRefused extends Refused {
  override readonly name = "ImportRefused";
}

/** The code of a failed system call, for example `EADDRINUSE`. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
