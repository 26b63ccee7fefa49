import type { Slice } from "../content-ref.ts";
import { crcOfRange } from "../tree/copy-ranges.ts";
import type { ExtentFiles } from "../extents/extent-files.ts";
import { ExtentFileCache } from "../extents/extent-file-cache.ts";

/** Reads the bytes of slices and verifies their checksums. */
export class StoredBytes {
  readonly #fileCache: ExtentFileCache;
  readonly #onBytes: (count: number) => void;
  /** Bytes read, and those of them that have a checksum. */
  bytesRead = 0;
  bytesWithChecksum = 0;

  constructor(files: ExtentFiles, onBytes: (count: number) => void = () => undefined) {
    this.#fileCache = new ExtentFileCache(files);
    this.#onBytes = onBytes;
  }

  /** Describes each slice whose bytes cannot be read or differ from their checksum. */
  async problemsOf(slices: readonly Slice[]): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const slice of slices) {
      const problem = await this.#check(slice);
      if (problem !== undefined) problems.push(problem);
    }
    return problems;
  }

  close(): Promise<void> {
    return this.#fileCache.close();
  }

  async #check({ source, length }: Slice): Promise<string | undefined> {
    if (!("extent" in source)) return undefined;
    const { extent, offset, crc64 } = source;
    const location = `${length} bytes at ${offset} of extent ${extent.toString(16)}`;
    try {
      const found = await crcOfRange(this.#fileCache, extent, { offset, length });
      this.bytesRead += length;
      this.#onBytes(length);
      if (crc64 === undefined) return undefined;
      this.bytesWithChecksum += length;
      return found === crc64 ? undefined : `${location} differ from their checksum`;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return `${location} cannot be read: ${reason}`;
    }
  }
}
