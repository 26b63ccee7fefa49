import type { Body, ContentStore } from "../../content/content.ts";
import {
  inlinePartBytesMax,
  inlineWholeBytesMax,
  type ContentEdit,
  type ReceivedBody,
  type SliceCipher,
  type SliceSourceOfLength,
} from "../../content/content-ref.ts";
import type { ScopeName } from "../../store/encryption/scope-keys.ts";
import { type ContentPiece, type MoreContentFrame, invalid } from "./archive-format.ts";

/** Stores the contents of an archive during a load, before `record-loader.ts` writes the
 *  records. */

/** A piece of content in an archive, whose bytes are stored for a transaction to refer to. */
export interface ReceivedPiece {
  readonly piece: ContentPiece;
  /** Undefined for a hole (a range without bytes). */
  readonly received: ReceivedBody | undefined;
}

interface PieceOptions {
  readonly length: number;
  /** Whether the frame contains the whole content. */
  readonly isWhole: boolean;
  /** The encryption scope whose key encrypts the stored content; undefined: none. */
  readonly scope?: ScopeName | undefined;
}

/** Begins to store the content bytes of an archive frame while an archive is loaded. The pieces are
 *  received concurrently; each becomes a slice of its own. */
export function receivePieces(
  content: ContentStore,
  { pieces, bytes }: MoreContentFrame,
  { length, isWhole, scope }: PieceOptions,
): readonly Promise<ReceivedPiece>[] {
  if (!Array.isArray(pieces)) throw invalid("content has no pieces");
  let from = 0;
  const bodies = pieces.map((piece) => {
    checkPiece(piece, length);
    const count = piece.isHole === true ? 0 : piece.length;
    from += count;
    return { piece, body: bytes.subarray(from - count, from) };
  });
  if (from !== bytes.length) throw invalid("pieces and bytes differ in length");
  const [only] = pieces;
  // Content of a single piece is stored in its record up to a larger limit, as after an upload.
  const isOneBody = isWhole && pieces.length === 1 && only?.length === length && !only.block;
  const inlineBytesMax = isOneBody ? inlineWholeBytesMax : inlinePartBytesMax;
  return bodies.map(({ piece, body }) => {
    if (piece.isHole === true) return Promise.resolve({ piece, received: undefined });
    const sizes = { length: body.length, lengthMax: body.length, inlineBytesMax };
    const encryption = scope && content.scopeKeys?.begin(scope);
    const options = { ...sizes, md5: false, crc64: true, encryption };
    const receiving = content.receive(bodyOf(body), options);
    const received = receiving.then((each) => ({ piece, received: each }));
    // A failure is thrown where the piece is awaited.
    received.catch(() => undefined);
    return received;
  });
}

function checkPiece(piece: ContentPiece | null, contentLength: number): void {
  if (typeof piece !== "object" || piece === null) throw invalid("a piece is no map");
  const { at, length, block, cipher } = piece;
  const isInside =
    Number.isSafeInteger(at) &&
    Number.isSafeInteger(length) &&
    at >= 0 &&
    length > 0 &&
    at + length <= contentLength;
  if (!isInside) throw invalid("a piece is outside of its content");
  if (block !== undefined && typeof block !== "string") throw invalid("a block id is not a text");
  const isCipher = cipher === undefined || typeof cipher.nonce === "bigint";
  if (!isCipher || !Number.isSafeInteger(cipher?.at ?? 0)) throw invalid("a cipher is not valid");
}

/** The edits of content with which a transaction writes each piece at its offset. */
export function writesOf(pieces: readonly ReceivedPiece[]): readonly ContentEdit[] {
  return pieces.map(({ piece: { at, length, block, cipher }, received }) => {
    if (received === undefined) return { edit: "clear", at, length };
    const stored = withCipher(received.pieces, cipher);
    const part = block === undefined ? { pieces: stored } : { pieces: stored, block };
    return { edit: "write", at, part };
  });
}

/** Adds the cipher of bytes that a client's key has encrypted; they are stored as they are. */
function withCipher(
  pieces: readonly SliceSourceOfLength[],
  cipher: SliceCipher | undefined,
): readonly SliceSourceOfLength[] {
  if (cipher === undefined) return pieces;
  let at = cipher.at;
  return pieces.map(({ length, source }) => {
    const own = { nonce: cipher.nonce, at };
    at += length;
    return { length, source: { ...source, cipher: own } };
  });
}

function bodyOf(bytes: Uint8Array): Body {
  return {
    whole: () => Promise.resolve(bytes),
    async *[Symbol.asyncIterator]() {
      yield bytes;
    },
  };
}
