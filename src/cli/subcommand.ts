/** Something the program does beside serving: `etagere NAME …`. */
export interface Subcommand {
  readonly name: string;
  /** The words that follow the name. */
  readonly usage: string;
  /** Its line in the list of all commands. */
  readonly summary: string;
  /** The rest of what `etagere NAME --help` says: what it does, its options, an example. */
  readonly help: readonly string[];
  /** Resolves with the exit code. */
  readonly run: (words: readonly string[]) => Promise<number>;
}

type Named = Pick<Subcommand, "name" | "usage">;

/** Whoever asks for help gets it, whatever else is on the line, and that is no failure. */
export function asksForHelp(words: readonly string[]): boolean {
  return words.some((word) => word === "-h" || word === "--help");
}

export function commandHelp({ help, ...named }: Omit<Subcommand, "run" | "summary">): string {
  return `${usageLine(named)}\n\n${help.join("\n")}\n`;
}

/** What is wrong with the words, and how they should read. */
export function usageError(named: Named, problem: string): string {
  return [
    `etagere ${named.name}: ${problem}`,
    usageLine(named),
    `etagere ${named.name} --help says more.`,
    "",
  ].join("\n");
}

function usageLine({ name, usage }: Named): string {
  return `usage: etagere ${name} ${usage}`.trimEnd();
}
