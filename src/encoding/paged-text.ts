import type { Awaitable } from "../base/awaitable.ts";
import type { LoopShare } from "../base/loop-share.ts";
import { pageBytes, returnPage, takePage } from "../process/bytes.ts";

/** Large response bodies (listings, for example) in pages of 64 KiB that the next response uses
 *  again (docs/adr/012-reusable-response-pages.md). `http` writes them. */

/** Most bytes of UTF-8 that a UTF-16 code unit becomes. */
const bytesPerUnitMax = 3;

/** The text of a large response, encoded while it is written. Its pages are reused after the
 *  response was sent. */
export class PagedText {
  readonly #pieces: Buffer[] = [];
  #pages: Buffer[] = [];
  #page: Buffer | undefined;
  /** Number of bytes written to the current page. */
  #used = 0;
  /** Number of bytes of all earlier pages and pieces. */
  #fullBytes = 0;

  get length(): number {
    return this.#fullBytes + this.#used;
  }

  append(text: string): void {
    const room = text.length * bytesPerUnitMax;
    if (room > pageBytes) {
      this.#appendPiece(Buffer.from(text, "utf8"));
      return;
    }
    const page = this.#pageWith(room);
    this.#used += page.write(text, this.#used);
  }

  appendBytes(bytes: Uint8Array): void {
    if (bytes.length > pageBytes) {
      this.#appendPiece(Buffer.from(bytes));
      return;
    }
    const page = this.#pageWith(bytes.length);
    page.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  /** Inserts text at the start, for the head of a document that is known only after its entries. */
  prepend(text: string): void {
    const piece = Buffer.from(text, "utf8");
    this.#pieces.unshift(piece);
    this.#fullBytes += piece.length;
  }

  /** The bytes in order, valid until `release`. */
  pieces(): readonly Uint8Array[] {
    this.#endPage();
    return this.#pieces;
  }

  /** Returns the pages for reuse. Must be called once, after the last use of `pieces()`: the next
   *  response overwrites the pages. */
  release(): void {
    this.#endPage();
    this.#pieces.length = 0;
    this.#fullBytes = 0;
    for (const page of this.#pages) returnPage(page);
    this.#pages = [];
  }

  #pageWith(room: number): Buffer {
    if (this.#page !== undefined && this.#used + room <= pageBytes) return this.#page;
    this.#endPage();
    this.#page = takePage();
    this.#pages.push(this.#page);
    return this.#page;
  }

  #appendPiece(piece: Buffer): void {
    this.#endPage();
    this.#pieces.push(piece);
    this.#fullBytes += piece.length;
  }

  #endPage(): void {
    if (this.#page === undefined) return;
    this.#pieces.push(this.#page.subarray(0, this.#used));
    this.#fullBytes += this.#used;
    this.#page = undefined;
    this.#used = 0;
  }
}

/** Units of event-loop time (`base/loop-share.ts`) per piece, and UTF-16 code units or bytes per
 *  unit. */
const unitsPerPiece = 0.5;
const lengthPerUnit = 2048;
/** Units of event-loop time that are spent together: a call for each piece would cost more. */
const unitsPerStep = 16;

/** Writes pieces, which are rendered one by one, and yields to the event loop between steps.
 *  Synchronous if one iteration has room for all of them. */
export function writePieces(
  loop: LoopShare,
  pieces: Iterable<string | Uint8Array>,
): Awaitable<PagedText> {
  const paged = new PagedText();
  const rest = pieces[Symbol.iterator]();
  const wait = writeStep(loop, rest, paged);
  return wait === undefined ? paged : writeRest(wait, loop, rest, paged);
}

async function writeRest(
  firstWait: Promise<void>,
  loop: LoopShare,
  rest: Iterator<string | Uint8Array>,
  paged: PagedText,
): Promise<PagedText> {
  let wait: Promise<void> | undefined = firstWait;
  while (wait !== undefined) {
    await wait;
    wait = writeStep(loop, rest, paged);
  }
  return paged;
}

/** Writes pieces until the end; returns a promise earlier if the event loop has no time left in
 *  this iteration. */
function writeStep(
  loop: LoopShare,
  rest: Iterator<string | Uint8Array>,
  paged: PagedText,
): Promise<void> | undefined {
  let units = 0;
  for (let next = rest.next(); next.done !== true; next = rest.next()) {
    const piece = next.value;
    if (typeof piece === "string") paged.append(piece);
    else paged.appendBytes(piece);
    units += unitsPerPiece + piece.length / lengthPerUnit;
    if (units < unitsPerStep) continue;
    const wait = loop.spend(units);
    if (wait !== undefined) return wait;
    units = 0;
  }
  return undefined;
}
