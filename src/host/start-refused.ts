/** Why a server did not start: one message per problem, for the user. */
export class StartRefused extends Error {
  override readonly name = "StartRefused";
  readonly problems: readonly string[];

  constructor(problems: readonly string[], cause?: unknown) {
    super(problems.join("\n"), { cause });
    this.problems = problems;
  }
}

/** The code of a failed system call, for example `EADDRINUSE`. */
export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
