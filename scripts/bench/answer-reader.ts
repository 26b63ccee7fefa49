/** A response. Large bodies are counted, not kept: keeping them would cost the client CPU time. */
export interface Answer {
  readonly status: number;
  /** Empty if longer than `keptBytesMax`. */
  readonly body: Buffer;
  readonly bodyBytes: number;
  header(name: string): string | undefined;
}

/** Keeps a listing of 5,000 blobs, but no body of several MiB. */
const keptBytesMax = 3 * 1024 * 1024;
const headBytesMax = 64 * 1024;
const nothing = Buffer.alloc(0);
const lengthPattern = /\r\ncontent-length: *(\d+)/i;
const chunkedPattern = /\r\ntransfer-encoding: *chunked/i;
const closePattern = /\r\nconnection: *close/i;

class Head implements Answer {
  readonly status: number;
  bodyBytes = 0;
  readonly text: string;
  keepsBody = true;
  #pieces: Buffer[] = [];

  constructor(text: string) {
    this.text = text;
    this.status = Number(text.slice(9, 12));
  }

  /** Decoded on first access. */
  get body(): Buffer {
    const [first = nothing] = this.#pieces;
    return this.#pieces.length < 2 ? first : Buffer.concat(this.#pieces);
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.bodyBytes += piece.length;
    if (this.bodyBytes > keptBytesMax) this.keepsBody = false;
    if (this.keepsBody) this.#pieces.push(piece);
    else this.#pieces = [];
  }

  header(name: string): string | undefined {
    const at = this.text.toLowerCase().indexOf(`\r\n${name}:`);
    if (at < 0) return undefined;
    const from = at + name.length + 3;
    const end = this.text.indexOf("\r\n", from);
    return this.text.slice(from, end < 0 ? undefined : end).trim();
  }
}

/** Parses successive responses from the chunks of a socket. */
export class AnswerReader {
  #head: Head | undefined;
  /** Bytes of an incomplete head or chunk line. */
  #rest: Buffer = nothing;
  /** Bytes left of the body, or of the current chunk and its line end. */
  #bytesLeft = 0;
  #isChunked = false;
  #closes = false;

  /** Whether the server closes the connection after the last response. */
  get closes(): boolean {
    return this.#closes;
  }

  /** Returns the response once its last byte has arrived. */
  take(piece: Buffer, withoutBody: boolean): Answer | undefined {
    if (this.#head !== undefined) return this.#takeBody(this.#head, piece);
    const received = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece]);
    const end = received.indexOf("\r\n\r\n");
    if (end < 0) {
      if (received.length > headBytesMax) throw new Error("a head without end");
      this.#rest = received;
      return undefined;
    }
    this.#rest = nothing;
    const head = new Head(received.toString("latin1", 0, end));
    const body = received.subarray(end + 4);
    if (head.status === 100) return body.length > 0 ? this.take(body, withoutBody) : undefined;
    this.#begin(head, withoutBody);
    return this.#takeBody(head, body);
  }

  #begin(head: Head, withoutBody: boolean): void {
    const { status, text } = head;
    this.#head = head;
    this.#closes = closePattern.test(text);
    this.#isChunked = false;
    this.#bytesLeft = 0;
    if (withoutBody || status === 204 || status === 304) return;
    const length = lengthPattern.exec(text)?.[1];
    if (length !== undefined) {
      this.#bytesLeft = Number(length);
      head.keepsBody = this.#bytesLeft <= keptBytesMax;
    } else this.#isChunked = chunkedPattern.test(text);
  }

  #takeBody(head: Head, piece: Buffer): Answer | undefined {
    if (this.#isChunked) return this.#takeChunks(head, piece);
    head.add(piece);
    this.#bytesLeft -= piece.length;
    return this.#bytesLeft > 0 ? undefined : this.#finish(head);
  }

  #takeChunks(head: Head, piece: Buffer): Answer | undefined {
    let at = 0;
    let received = piece;
    if (this.#rest.length > 0) {
      received = Buffer.concat([this.#rest, piece]);
      this.#rest = nothing;
    }
    while (at < received.length) {
      if (this.#bytesLeft > 0) {
        const count = Math.min(this.#bytesLeft, received.length - at);
        // The last two bytes of a chunk are its line end.
        const content = Math.min(count, Math.max(0, this.#bytesLeft - 2));
        head.add(received.subarray(at, at + content));
        this.#bytesLeft -= count;
        at += count;
        continue;
      }
      const lineEnd = received.indexOf("\r\n", at);
      const size = lineEnd < 0 ? 0 : Number.parseInt(received.toString("latin1", at, lineEnd), 16);
      // The empty chunk and the empty line after it end the response.
      if (lineEnd < 0 || (size === 0 && received.length < lineEnd + 4)) {
        this.#rest = received.subarray(at);
        return undefined;
      }
      if (size === 0) return this.#finish(head);
      this.#bytesLeft = size + 2;
      at = lineEnd + 2;
    }
    return undefined;
  }

  #finish(head: Head): Answer {
    this.#head = undefined;
    return head;
  }
}
