import { sealBytes, SealBroken, type Cipher } from "../../store/encryption/cipher.ts";
import { ContentDamaged, type ExtentFile, type ExtentFiles } from "./extent-files.ts";
import { placeOf, sealedLayout } from "./sealed-layout.ts";

/** Extents whose bytes are encrypted in chunks (`sealed-layout.ts`), each for its place. Large
 *  bodies have no aligned extents: their buffers are not written unchanged. There is no spare space
 *  either, because only whole regions could be moved into it. */
export function encryptedFiles(files: ExtentFiles, cipher: Cipher): ExtentFiles {
  const { blockBytes: _, spare: __, ...rest } = files;
  return {
    ...rest,
    layout: sealedLayout,
    create: async (extent) => encryptedFile(await files.create(extent), extent, cipher),
    open: async (extent) => encryptedFile(await files.open(extent), extent, cipher),
  };
}

function encryptedFile(file: ExtentFile, extent: bigint, cipher: Cipher): ExtentFile {
  const canShorten = file.shorten !== undefined;
  return {
    sync: () => file.sync(),
    close: () => file.close(),
    ...(canShorten && { shorten: (bytes: number) => file.shorten?.(bytes) }),
    write(bytes, offset, span) {
      const { position, at, chunkBytes } = placeOf(offset);
      if (at % chunkBytes !== 0) throw new Error(`encrypted bytes begin inside a chunk at ${at}`);
      const pitch = chunkBytes + sealBytes;
      const start = position + (at / chunkBytes) * pitch;
      const count = Math.ceil(bytes.length / chunkBytes);
      const sealed = Buffer.allocUnsafeSlow(count * pitch);
      for (let index = 0; index < count; index += 1) {
        const target = sealed.subarray(index * pitch, (index + 1) * pitch);
        const chunk = padded(bytes, index * chunkBytes, chunkBytes);
        cipher.sealInto(target, "content", placeBytes(extent, start + index * pitch), chunk);
      }
      return file.write(sealed, start, span);
    },
    async read(bytes, offset, span) {
      const { position, at, chunkBytes } = placeOf(offset);
      const pitch = chunkBytes + sealBytes;
      const first = Math.floor(at / chunkBytes);
      const end = Math.ceil((at + bytes.length) / chunkBytes);
      const sealed = Buffer.allocUnsafeSlow((end - first) * pitch);
      const start = position + first * pitch;
      await file.read(sealed, start, span);
      for (let index = 0; index < end - first; index += 1) {
        const chunk = openChunk(sealed.subarray(index * pitch, (index + 1) * pitch), {
          cipher,
          extent,
          position: start + index * pitch,
        });
        // The part of the chunk that was requested, and where it goes.
        const from = (first + index) * chunkBytes - at;
        const part = chunk.subarray(Math.max(0, -from), Math.min(chunkBytes, bytes.length - from));
        bytes.set(part, Math.max(0, from));
      }
    },
  };
}

/** The bytes of a chunk; zeros follow the last ones of a region. */
function padded(bytes: Uint8Array, from: number, length: number): Uint8Array {
  const chunk = bytes.subarray(from, from + length);
  if (chunk.length === length) return chunk;
  const whole = new Uint8Array(length);
  whole.set(chunk);
  return whole;
}

interface ChunkPlace {
  readonly cipher: Cipher;
  readonly extent: bigint;
  readonly position: number;
}

function openChunk(sealed: Uint8Array, { cipher, extent, position }: ChunkPlace): Uint8Array {
  try {
    return cipher.open("content", placeBytes(extent, position), sealed);
  } catch (error) {
    if (!(error instanceof SealBroken)) throw error;
    const where = `position ${position} of extent ${extent.toString(16)}`;
    throw new ContentDamaged(`${where}: ${error.message}`, { cause: error });
  }
}

function placeBytes(extent: bigint, position: number): Uint8Array {
  const place = Buffer.allocUnsafe(16);
  place.writeBigUInt64BE(extent);
  place.writeBigUInt64BE(BigInt(position), 8);
  return place;
}
