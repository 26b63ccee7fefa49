import { ArchiveRefused, ImportRefused } from "../commands/refused.ts";
import { messageOf, StartRefused } from "../host/start-refused.ts";

/** A command other than running the server: `etagere NAME …`. */
export interface Subcommand {
  readonly name: string;
  /** The words after the name. */
  readonly usage: string;
  /** Its line in `etagere --help`. */
  readonly summary: string;
  /** `etagere NAME --help` below the usage line: description, options, exit codes, example. */
  readonly help: readonly string[];
  /** Resolves with the exit code. */
  readonly run: (words: readonly string[]) => Promise<number>;
}

type Named = Pick<Subcommand, "name" | "usage">;

/** Whether `-h` or `--help` is among the words; then the rest is not parsed. */
export function asksForHelp(words: readonly string[]): boolean {
  return words.some((word) => word === "-h" || word === "--help");
}

export function commandHelp({ help, ...named }: Omit<Subcommand, "run" | "summary">): string {
  return `${usageLine(named)}\n\n${help.join("\n")}\n`;
}

/** The message for words that cannot be parsed. */
export function usageError(named: Named, problem: string): string {
  return [
    `etagere ${named.name}: ${problem}`,
    usageLine(named),
    `etagere ${named.name} --help describes all options.`,
    "",
  ].join("\n");
}

function usageLine({ name, usage }: Named): string {
  return `usage: etagere ${name} ${usage}`.trimEnd();
}

/** Prints why a command failed; returns its exit code. */
export function printFailure(error: unknown, consequence: string): number {
  for (const problem of problemsOf(error)) process.stderr.write(`etagere: ${problem}\n`);
  process.stderr.write(`etagere: ${consequence}\n`);
  return 1;
}

function problemsOf(error: unknown): readonly string[] {
  const hasProblems =
    error instanceof ArchiveRefused ||
    error instanceof ImportRefused ||
    error instanceof StartRefused;
  return hasProblems ? error.problems : [messageOf(error)];
}
