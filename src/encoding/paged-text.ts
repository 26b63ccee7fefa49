import type { LoopShare } from "../base/loop-share.ts";

/** Size of a page. */
const pageBytes = 64 * 1024;
/** A UTF-16 code unit becomes at most three bytes of UTF-8. */
const bytesPerUnitMax = 3;
/** Most unused pages that are kept. */
const freePagesMax = 128;

/** Unused pages, kept for reuse. Memory outside the heap causes full garbage collections, however
 *  briefly it is used. Saves 6 % of the CPU time of a listing whose entries are cached
 *  (docs/adr/012-reusable-response-pages.md). */
const freePages: Buffer[] = [];

/** The text of a large response, encoded while it is written. Its pages are reused after the
 *  response was sent. */
export class PagedText {
  readonly #pieces: Buffer[] = [];
  #pages: Buffer[] = [];
  #page: Buffer | undefined;
  /** Bytes written to the current page. */
  #used = 0;
  /** Bytes of all earlier pages and pieces. */
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
    for (const page of this.#pages) {
      if (freePages.length < freePagesMax) freePages.push(page);
    }
    this.#pages = [];
  }

  #pageWith(room: number): Buffer {
    if (this.#page !== undefined && this.#used + room <= pageBytes) return this.#page;
    this.#endPage();
    this.#page = freePages.pop() ?? Buffer.allocUnsafeSlow(pageBytes);
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

/** Most entries rendered per step: each may have 8 KiB of metadata. */
const entriesAtOnceMax = 64;

/** Renders the entries of a listing, yielding to the event loop between steps. */
export async function renderEntries<T>(
  loop: LoopShare,
  items: readonly T[],
  render: (item: T) => string,
): Promise<PagedText> {
  const entries = new PagedText();
  for (let from = 0; from < items.length; from += entriesAtOnceMax) {
    const some = items.slice(from, from + entriesAtOnceMax);
    for (const item of some) entries.append(render(item));
    const wait = loop.spend(some.length);
    if (wait !== undefined) await wait;
  }
  return entries;
}
