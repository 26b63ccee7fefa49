import { messageOf, Refused } from "../host/refused.ts";
import type { Flag, FlagKind } from "../server/flags.ts";
import { commandHelp, usageError } from "./help.ts";
import { readWords } from "./parse-words.ts";

/** The form in which every command of `etagere` is declared, and `defineCommand`, which makes a
 *  declaration executable. */

/** What the value of an option or an argument is: `stream` is a file, or `-` for standard input or
 *  output; `http` the URL of a server; `name` the name of a resource, which no shell can
 *  complete. */
type ValueKind = FlagKind | "stream" | "http" | "name";

/** An option of a command or of the server: `--name value`. */
export interface Option extends Omit<Flag, "kind"> {
  readonly kind: ValueKind;
  readonly isRequired?: true;
  /** Whether the option may be repeated; its value is then a list. */
  readonly isList?: true;
  /** Names of options that cannot be given together with this one. */
  readonly excludes?: readonly string[];
  /** The actions of the command (`create`, for example) that accept the option; undefined: all. */
  readonly actions?: readonly string[];
}

export type Options = Readonly<Record<string, Option>>;

/** A word after the command that belongs to no option. */
export interface Argument {
  /** Name of the value in the usage line, as `FOLDER`. */
  readonly value: string;
  readonly kind: ValueKind;
  readonly choices?: readonly string[];
  /** Undefined if the help of the action describes the argument. */
  readonly help?: string;
  readonly isOptional?: true;
  /** Whether any number of these words may follow, also none. Possible for the last argument. */
  readonly isList?: true;
}

/** A word after the command that selects what it does: `save` of `etagere snapshot save`. */
interface Action {
  readonly arguments: readonly Argument[];
  /** Names of options of which exactly one must be given. */
  readonly oneOf?: readonly string[];
  readonly help: string;
}

/** The declaration of a command. Parsing, help, documents and completion are derived from it. */
export interface Declaration {
  readonly name: string;
  /** The line of the command in `etagere --help`. */
  readonly summary: string;
  /** Paragraphs of `etagere NAME --help`: `description` before the options, `notes` after them. */
  readonly description: readonly string[];
  readonly notes?: readonly string[];
  readonly arguments: readonly Argument[];
  /** Words that may follow the name of the command, each with its declaration. Empty if the command
   *  has only one action. */
  readonly actions: Readonly<Record<string, Action>>;
  readonly options: Options;
  /** Groups of options of which exactly one must be given. */
  readonly oneOf?: readonly (readonly string[])[];
  /** The meaning of each exit code, beginning with 0. */
  readonly exitCodes: readonly string[];
  /** The exit code if the words cannot be parsed; 1 by default. */
  readonly usageExitCode?: number;
  /** What a failure means for the data; printed after the reason of the failure. */
  readonly failure?: string;
  readonly example: string;
}

/** A command other than running the server: `etagere NAME …`. */
export interface Command extends Declaration {
  /** Runs the command. Resolves with the exit code. */
  readonly run: (words: readonly string[]) => Promise<number>;
}

type ValueOf<O extends Option> = O extends { readonly kind: "switch" }
  ? boolean
  : O extends { readonly isList: true }
    ? readonly string[]
    : O extends { readonly isRequired: true }
      ? string
      : string | undefined;

/** The parsed values of declared options: a boolean for a switch, a list for a list option. */
export type Values<O extends Options> = { readonly [N in keyof O]: ValueOf<O[N]> };

/** What the user has typed after the name of a command, parsed and checked against the declaration
 *  of the command. */
interface Given<O extends Options, A extends string> {
  readonly action: A;
  /** The arguments; optional ones may be absent. */
  readonly words: readonly string[];
  readonly options: Values<O>;
}

/** What a command prints on standard output: `text`, or with `--json` the report in one line. */
interface Printed {
  readonly text: string;
  readonly report?: object | undefined;
  /** Exit code of the process; undefined means 0. */
  readonly exitCode?: number;
}

/** Thrown by a command if an argument is invalid in a way that the declaration cannot express, for
 *  example a malformed size. */
export class WrongUsage extends Error {
  override readonly name = "WrongUsage";
}

/** A declaration as commands write it: arguments, actions or options may be omitted. */
type Declared<O extends Options, A extends string> = Omit<
  Declaration,
  "arguments" | "actions" | "options"
> & {
  readonly arguments?: readonly Argument[];
  readonly actions?: Readonly<Record<A, Action>>;
  readonly options?: O;
  readonly run: (given: Given<O, A>) => Promise<Printed>;
};

/** Returns the command of a declaration. It calls `run` only with values that agree with the
 *  declaration, and prints the result, or the message of the error that `run` throws. */
export function defineCommand<const O extends Options, const A extends string>({
  run: act,
  ...given
}: Declared<O, A>): Command {
  const declared: Declaration = { arguments: [], actions: {}, options: {}, ...given };
  const { usageExitCode = 1 } = declared;
  const refuse = (problems: readonly string[]): number => {
    process.stderr.write(usageError(declared, problems));
    return usageExitCode;
  };
  const run = async (words: readonly string[]): Promise<number> => {
    const read = readWords(words, declared);
    if (read.asksForHelp) {
      process.stdout.write(commandHelp(declared));
      return 0;
    }
    if (read.problems.length > 0) return refuse(read.problems);
    try {
      // `readWords` has checked the values against the same declaration.
      const { text, report, exitCode = 0 } = await act(read.given as unknown as Given<O, A>);
      const isJson = report !== undefined && read.given.options["json"] === true;
      process.stdout.write(isJson ? `${JSON.stringify(report)}\n` : text);
      return exitCode;
    } catch (error) {
      if (error instanceof WrongUsage) return refuse([error.message]);
      const problems = error instanceof Refused ? error.problems : [messageOf(error)];
      const lines = declared.failure ? [...problems, declared.failure] : problems;
      for (const line of lines) process.stderr.write(`etagere: ${line}\n`);
      return usageExitCode;
    }
  };
  return { ...declared, run };
}
