const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;

/** Nesting depths in `{ "collections": [ { "name": …, "data": [ {document}, … ] } ] }`. */
const collectionDepth = 3;
const documentDepth = 5;

/** A blob of 50,000 blocks takes about 20 MiB. */
const documentBytesMax = 128 * 1024 * 1024;
const tokenBytesMax = 64 * 1024;

export interface LokiDocument {
  readonly collection: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Extracts the documents from a LokiJS file, which is one JSON value, chunk by chunk: the file may
 * be larger than memory, a document may not. Everything else is skipped.
 */
export class LokiScanner {
  readonly #isWanted: (collection: string) => boolean;
  readonly #bytesMax: number;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #key = "";
  #collection = "";
  #token: Buffer[] | undefined;
  #document: Buffer[] | undefined;
  #keptBytes = 0;

  constructor(isWanted: (collection: string) => boolean, bytesMax = documentBytesMax) {
    this.#isWanted = isWanted;
    this.#bytesMax = bytesMax;
  }

  /** Whether the JSON value is complete; false at the end of a truncated file. */
  get isComplete(): boolean {
    return this.#depth === 0 && !this.#isInString;
  }

  /** Returns the documents that end in this chunk. */
  scan(chunk: Buffer): LokiDocument[] {
    const found: LokiDocument[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]!;
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) {
          this.#isInString = false;
          if (this.#token !== undefined) this.#endToken(chunk.subarray(from, at + 1));
        }
        continue;
      }
      if (byte === quote) {
        this.#isInString = true;
        if (this.#depth !== collectionDepth) continue;
        this.#token = [];
        from = at;
      } else if (byte === openBrace || byte === openBracket) {
        this.#depth += 1;
        if (!this.#isDocumentStart(byte)) continue;
        this.#document = [];
        from = at;
      } else if (byte === closeBrace || byte === closeBracket) {
        this.#depth -= 1;
        if (this.#document === undefined || this.#depth >= documentDepth) {
          if (this.#depth < collectionDepth) this.#collection = "";
          continue;
        }
        found.push(this.#endDocument(chunk.subarray(from, at + 1)));
      }
    }
    this.#keep(chunk.subarray(from));
    return found;
  }

  #isDocumentStart(byte: number): boolean {
    const isInData = this.#depth === documentDepth && byte === openBrace && this.#key === "data";
    return isInData && this.#isWanted(this.#collection);
  }

  /** Ends a string directly inside a collection: a field's name, or the value of a field. */
  #endToken(last: Buffer): void {
    const token: unknown = JSON.parse(Buffer.concat([...(this.#token ?? []), last]).toString());
    this.#token = undefined;
    this.#keptBytes = 0;
    if (this.#key === "name" && this.#collection === "") {
      this.#collection = String(token);
      this.#key = "";
    } else {
      this.#key = String(token);
    }
  }

  #endDocument(last: Buffer): LokiDocument {
    const text = Buffer.concat([...(this.#document ?? []), last]).toString();
    this.#document = undefined;
    this.#keptBytes = 0;
    return { collection: this.#collection, fields: JSON.parse(text) as LokiDocument["fields"] };
  }

  /** Keeps the part of a document or token that continues in the next chunk. */
  #keep(rest: Buffer): void {
    const parts = this.#document ?? this.#token;
    if (parts === undefined) return;
    this.#keptBytes += rest.length;
    const bytesMax = this.#document === undefined ? tokenBytesMax : this.#bytesMax;
    if (this.#keptBytes > bytesMax) throw new RangeError(`a document exceeds ${bytesMax} bytes`);
    parts.push(Buffer.from(rest));
  }
}
