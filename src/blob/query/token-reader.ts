import type { SqlToken } from "./sql-tokens.ts";

/** Thrown by the parser, caught in `parseQuery`. The message is part of the response. */
export class SqlSyntaxError extends Error {
  override readonly name = "SqlSyntaxError";
}

const depthMax = 200;

/** A cursor over the tokens. `next` and `expect` throw if the token is missing. */
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

  /** Consumes the word or symbol if it is next. */
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

  /** Parses a nested expression; throws beyond the maximum depth. */
  nested<T>(parse: () => T): T {
    this.#depth += 1;
    if (this.#depth > depthMax) throw new SqlSyntaxError("the expression nests too deep");
    const parsed = parse();
    this.#depth -= 1;
    return parsed;
  }
}
