const pageBytes = 64 * 1024;
/** No code unit of a string becomes more bytes of UTF-8. */
const bytesPerUnitMax = 3;
const keptPagesMax = 128;

/** Pages that nobody uses. Memory outside the heap makes the collector look at all of it, however
 *  short its life is: for long answers that took longer than writing them. */
const kept: Page[] = [];

/** What Node has and its types leave out: `write` without a look at its arguments. */
interface Page extends Buffer {
  utf8Write(text: string, offset: number): number;
}

/** Text for a long answer, encoded as it is written. Its pages are used again once it was sent. */
export class PagedText {
  readonly #pieces: Buffer[] = [];
  #pages: Page[] = [];
  #page: Page | undefined;
  /** How much of the last page is written. */
  #used = 0;
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
    this.#used += page.utf8Write(text, this.#used);
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

  /** For what is known last and comes first. */
  prepend(text: string): void {
    const piece = Buffer.from(text, "utf8");
    this.#pieces.unshift(piece);
    this.#fullBytes += piece.length;
  }

  /** In order; good until it is released. */
  pieces(): readonly Uint8Array[] {
    this.#endPage();
    return this.#pieces;
  }

  /** For whoever is done with its pieces, once: others will write over them. */
  release(): void {
    this.#endPage();
    this.#pieces.length = 0;
    this.#fullBytes = 0;
    for (const page of this.#pages) {
      if (kept.length < keptPagesMax) kept.push(page);
    }
    this.#pages = [];
  }

  #pageWith(room: number): Page {
    if (this.#page !== undefined && this.#used + room <= pageBytes) return this.#page;
    this.#endPage();
    this.#page = kept.pop() ?? (Buffer.allocUnsafeSlow(pageBytes) as Page);
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
