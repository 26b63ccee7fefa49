import { STATUS_CODES } from "node:http";
import type { DialectWithTransactions, PartResponse } from "../operation/dialect.ts";
import type { HeaderGroup } from "../operation/reply.ts";
import type { TextBytes } from "../encoding/text-bytes.ts";
import type { Ticks } from "../base/ticks.ts";
import type { Outcome } from "../operation/execute.ts";

export type Reply = Extract<Outcome, { kind: "reply" }>;

const crlf = "\r\n";
const noHeaders: HeaderGroup = {};

/** Writes the responses of a transaction that have no body. Consecutive responses usually differ in
 *  one or two lines; the text before and after these lines is reused. */
export class PartResponseWriter implements PartResponse {
  method = "";
  status = 0;
  readonly #dialect: DialectWithTransactions;
  readonly #out: TextBytes;
  readonly #before: string;
  #groups: readonly HeaderGroup[] = [];
  #newETag: Ticks | undefined;
  #etagHeaders = noHeaders;
  /** The header lines of the current response, or of the preceding one. */
  readonly #names: string[] = [];
  readonly #values: string[] = [];
  #count = 0;
  /** Number of equal lines before the first line that differs, and after the last one. */
  #leadCount = 0;
  #lead = "";
  #tailFrom = 0;
  #tail = "";
  #firstOther = 0;
  #lastOther = 0;

  /** `before` precedes every response. */
  constructor(dialect: DialectWithTransactions, out: TextBytes, before = "") {
    this.#dialect = dialect;
    this.#out = out;
    this.#before = before;
  }

  write(method: string, { status, headers, etag }: Reply): void {
    const countBefore = this.#count;
    const isAlike = method === this.method && status === this.status;
    this.method = method;
    this.status = status;
    this.#groups = headers;
    if (etag !== this.#newETag) {
      this.#newETag = etag;
      this.#etagHeaders = etag === undefined ? noHeaders : this.#dialect.etagHeaders(etag);
    }
    this.#count = 0;
    this.#firstOther = Infinity;
    this.#lastOther = -1;
    this.#dialect.transaction.partHeaders(this, this.#noteLine);
    if (isAlike && this.#count === countBefore) this.#writeOthers();
    else this.#writeAll();
  }

  /** The value of a header: the last group that contains it counts. */
  header(name: string): string | undefined {
    const groups = this.#groups;
    for (let index = groups.length - 1; index >= 0; index -= 1) {
      const value = groups[index]![name];
      if (value !== undefined) return value;
    }
    return this.#etagHeaders[name];
  }

  readonly #noteLine = (name: string, value: string): void => {
    const at = this.#count;
    this.#count = at + 1;
    if (this.#names[at] === name && this.#values[at] === value) return;
    this.#names[at] = name;
    this.#values[at] = value;
    this.#firstOther = Math.min(this.#firstOther, at);
    this.#lastOther = at;
  };

  #writeOthers(): void {
    const leadCount = Math.min(this.#firstOther, this.#count);
    if (this.#lead === "" || leadCount !== this.#leadCount) {
      this.#leadCount = leadCount;
      this.#lead = `${this.#before}${statusLine(this.status)}${this.#lines(0, leadCount)}`;
    }
    const tailFrom = Math.max(this.#lastOther + 1, leadCount);
    if (this.#tail === "" || tailFrom !== this.#tailFrom) {
      this.#tailFrom = tailFrom;
      this.#tail = `${this.#lines(tailFrom, this.#count)}${crlf}`;
    }
    this.#out.append(this.#lead + this.#lines(leadCount, tailFrom) + this.#tail);
  }

  /** Writes all lines, because the reused text belongs to another kind of response. */
  #writeAll(): void {
    this.#lead = "";
    this.#tail = "";
    const lines = this.#lines(0, this.#count);
    this.#out.append(`${this.#before}${statusLine(this.status)}${lines}${crlf}`);
  }

  #lines(from: number, to: number): string {
    let lines = "";
    for (let at = from; at < to; at += 1) lines += `${this.#names[at]}: ${this.#values[at]}${crlf}`;
    return lines;
  }
}

function statusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}${crlf}`;
}
