import { STATUS_CODES } from "node:http";
import type { Dialect, PartAnswer } from "../core/dialect.ts";
import type { HeaderGroup } from "../core/operation.ts";
import type { TextBytes } from "../core/text-bytes.ts";
import type { Ticks } from "../core/ticks.ts";
import type { Outcome } from "../execution/execute.ts";

export type Reply = Extract<Outcome, { kind: "reply" }>;

/** A line that was written at the same place of the answer before. */
interface Line {
  name: string;
  value: string;
  /** Made when the same value comes again. */
  text: string | undefined;
}

const noHeaders: HeaderGroup = {};

/**
 * Writes the answers of a transaction that have no body of their own, without what the answer
 * around them says for all. They hardly differ from each other: a hundred of them are written as
 * the few texts that they share.
 */
export class PartReplies implements PartAnswer {
  method = "";
  status = 0;
  readonly #dialect: Dialect;
  readonly #out: TextBytes;
  readonly #lines: Line[] = [];
  #groups: readonly HeaderGroup[] = [];
  #stamp: Ticks | undefined;
  #stampHeaders = noHeaders;
  #at = 0;

  constructor(dialect: Dialect, out: TextBytes) {
    this.#dialect = dialect;
    this.#out = out;
  }

  write(method: string, { status, headers, etag }: Reply): void {
    this.method = method;
    this.status = status;
    this.#groups = headers;
    if (etag !== this.#stamp) {
      this.#stamp = etag;
      this.#stampHeaders = etag === undefined ? noHeaders : this.#dialect.stampHeaders(etag);
    }
    this.#out.append(statusLine(status));
    this.#at = 0;
    this.#dialect.transaction.partHeaders(this, this.#writeLine);
    this.#out.append(crlf);
  }

  /** A later group replaces what an earlier one says. */
  header(name: string): string | undefined {
    let value = this.#stampHeaders[name];
    const groups = this.#groups;
    for (let index = 0; index < groups.length; index += 1) value = groups[index]![name] ?? value;
    return value;
  }

  readonly #writeLine = (name: string, value: string): void => {
    const line = this.#lines[this.#at];
    this.#at += 1;
    if (line === undefined) this.#lines.push({ name, value, text: undefined });
    else if (line.name === name && line.value === value) {
      line.text ??= `${name}: ${value}${crlf}`;
      this.#out.append(line.text);
      return;
    } else {
      line.name = name;
      line.value = value;
      line.text = undefined;
    }
    this.#out.append(name);
    this.#out.append(": ");
    this.#out.append(value);
    this.#out.append(crlf);
  };
}

const crlf = "\r\n";

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}${crlf}`;
}
