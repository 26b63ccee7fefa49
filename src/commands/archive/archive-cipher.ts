import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { Random } from "../../base/world.ts";
import { ArchiveRefused } from "../../host/refused.ts";
import { ByteSource } from "./byte-source.ts";
import type { ArchiveSink } from "./archive-format.ts";

/*
 * An encrypted archive is a line of text, the key of the archive and a sequence of chunks
 * (docs/ARCHIVE.md).
 *
 *     etagere encrypted archive 1\n
 *     nonce 12 bytes, tag 16, key of the archive 32, encrypted with the master key
 *     chunk: tag 16 bytes, then 64 KiB of the archive, in the last chunk fewer
 *
 * The key is random and used for one archive, so the number of a chunk is its nonce. Its last byte
 * is 1 in the last chunk: chunks that are missing, added or exchanged are noticed.
 */

export const encryptedFirstLine = "etagere encrypted archive 1\n";
const algorithm = "aes-256-gcm";
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const chunkBytes = 64 * 1024;
const wrappedBytes = nonceBytes + tagBytes + keyBytes;

/** Receives the bytes of an archive and writes them encrypted. */
interface EncryptingSink {
  readonly write: ArchiveSink;
  /** Writes the last chunk; without it the archive is incomplete. */
  readonly end: () => Promise<void>;
}

/** Returns a sink that encrypts an archive with a random key, and this with the master key. */
export function encryptingSink(
  sink: ArchiveSink,
  { master, random }: { readonly master: Uint8Array; readonly random: Random },
): EncryptingSink {
  const key = random.bytes(keyBytes);
  const nonce = random.bytes(nonceBytes);
  const head = Buffer.concat([
    Buffer.from(encryptedFirstLine, "latin1"),
    nonce,
    sealed({ key: wrappingKey(master), nonce }, key),
  ]);
  let index = 0;
  let waiting: Uint8Array[] = [head];
  const chunk = Buffer.alloc(chunkBytes);
  let filled = 0;
  const send = async (isLast: boolean): Promise<void> => {
    const place = { key, nonce: chunkNonce(index, isLast) };
    index += 1;
    const parts = [...waiting, sealed(place, chunk.subarray(0, filled))];
    waiting = [];
    filled = 0;
    for (const part of parts) await sink(part);
  };
  return {
    async write(bytes) {
      for (let from = 0; from < bytes.length;) {
        // Sends a full chunk only when further bytes follow, because the last chunk has a mark and
        // is written by `end`.
        if (filled === chunkBytes) await send(false);
        const part = bytes.subarray(from, from + chunkBytes - filled);
        chunk.set(part, filled);
        filled += part.length;
        from += part.length;
      }
    },
    end: () => send(true),
  };
}

/** Decrypts an archive. Returns an archive that is not encrypted unchanged. The master key is read
 *  only for an encrypted archive. Throws `ArchiveRefused` if the key is wrong or the archive was
 *  changed. */
export async function* decryptedArchive(
  archive: AsyncIterable<Uint8Array>,
  readMaster: () => Promise<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const source = new ByteSource(archive);
  try {
    const start = await source.readUpTo(encryptedFirstLine.length);
    if (Buffer.from(start).toString("latin1") !== encryptedFirstLine) {
      yield start;
      yield* source.rest();
      return;
    }
    const key = unwrapped(await source.readUpTo(wrappedBytes), await readMaster());
    for (let index = 0, isLast = false; !isLast; index += 1) {
      const stored = await source.readUpTo(tagBytes + chunkBytes);
      isLast = await source.isAtEnd();
      const opened = unsealed({ key, nonce: chunkNonce(index, isLast) }, stored);
      if (opened === undefined) throw new ArchiveRefused([changed]);
      if (opened.length > 0) yield opened;
    }
  } finally {
    await source.close();
  }
}

const changed = "the encrypted archive is damaged or incomplete";
const wrongKey = "--archiveKey: this is not the master key that the archive was encrypted with";

interface CipherPlace {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
}

/** Encrypts bytes. Returns the tag, by which changes are noticed, and then the encrypted bytes. */
function sealed({ key, nonce }: CipherPlace, bytes: Uint8Array): Buffer {
  const cipher = createCipheriv(algorithm, key, nonce);
  const encrypted = [cipher.update(bytes), cipher.final()];
  return Buffer.concat([cipher.getAuthTag(), ...encrypted]);
}

/** Decrypts what `sealed` has returned; undefined if the key is wrong or the bytes were changed. */
function unsealed({ key, nonce }: CipherPlace, stored: Uint8Array): Uint8Array | undefined {
  if (stored.length < tagBytes) return undefined;
  const decipher = createDecipheriv(algorithm, key, nonce);
  decipher.setAuthTag(stored.subarray(0, tagBytes));
  const bytes = decipher.update(stored.subarray(tagBytes));
  try {
    decipher.final();
    return bytes;
  } catch {
    return undefined;
  }
}

function unwrapped(stored: Uint8Array, master: Uint8Array): Uint8Array {
  if (stored.length < wrappedBytes) throw new ArchiveRefused([changed]);
  const place = { key: wrappingKey(master), nonce: stored.subarray(0, nonceBytes) };
  const key = unsealed(place, stored.subarray(nonceBytes));
  if (key === undefined) throw new ArchiveRefused([wrongKey]);
  return key;
}

/** The key with which the key of an archive is encrypted. It is derived from the master key, so
 *  that it differs from the one with which a store encrypts its data keys. */
function wrappingKey(master: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", master, new Uint8Array(0), "etagere archives", 32));
}

/** The nonce of a chunk: its number, then 1 in the last byte if it is the last chunk. */
function chunkNonce(index: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(nonceBytes);
  nonce.writeUIntBE(index, nonceBytes - 7, 6);
  nonce[nonceBytes - 1] = isLast ? 1 : 0;
  return nonce;
}
