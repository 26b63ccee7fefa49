import type { SqlToken } from "./sql-tokens.ts";

/** The text is not a query of the grammar. Caught where the parser is called. */
export class SqlSyntaxError extends Error {
  override readonly name = "SqlProblem";
}

const depthMax = 200;

/** Walks through tokens; whoever expects something else ends the parse. */
export class TokenReader {
  readonly #tokens: readonly SqlToken[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly SqlToken[]) {
    this.#tokens = tokens;
  }

  get isDone(): boolean {
    return this.#at >= this.#tokens.length;
  }

  peek(ahead = 0): SqlToken | undefined {
    return this.#tokens[this.#at + ahead];
  }

  next(): SqlToken {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw new SqlSyntaxError("the expression ends too early");
    this.#at += 1;
    return token;
  }

  /** Takes the word or symbol if it is there. */
  take(text: string): boolean {
    if (!this.isAt(text)) return false;
    this.#at += 1;
    return true;
  }

  expect(text: string): void {
    if (!this.take(text)) throw new SqlSyntaxError(`${text} was expected`);
  }

  isAt(text: string, ahead = 0): boolean {
    const token = this.peek(ahead);
    if (token?.kind === "word") return token.upper === text;
    return token?.kind === "symbol" && token.text === text;
  }

  /** Expressions nest no deeper than this. */
  nested<T>(parse: () => T): T {
    this.#depth += 1;
    if (this.#depth > depthMax) throw new SqlSyntaxError("the expression nests too deep");
    const parsed = parse();
    this.#depth -= 1;
    return parsed;
  }
}
