import type { Slice } from "../content-ref.ts";
import { crcOfStretch } from "../copy-ranges.ts";
import type { ExtentFiles } from "../extent-files.ts";
import { ExtentFileCache } from "../extent-file-cache.ts";

/** Reads what slices refer to, and compares it with their checksums. */
export class StoredBytes {
  readonly #handles: ExtentFileCache;
  /** Read, and found to be what was written, where a checksum tells. */
  bytesRead = 0;
  bytesWithChecksum = 0;

  constructor(files: ExtentFiles) {
    this.#handles = new ExtentFileCache(files);
  }

  /** What is wrong with the bytes of each slice. */
  async problemsOf(slices: readonly Slice[]): Promise<readonly string[]> {
    const problems: string[] = [];
    for (const slice of slices) {
      const problem = await this.#check(slice);
      if (problem !== undefined) problems.push(problem);
    }
    return problems;
  }

  close(): Promise<void> {
    return this.#handles.close();
  }

  async #check({ source, length }: Slice): Promise<string | undefined> {
    if (!("extent" in source)) return undefined;
    const { extent, offset, crc64 } = source;
    const place = `${length} bytes at ${offset} of extent ${extent.toString(16)}`;
    try {
      const found = await crcOfStretch(this.#handles, extent, { offset, length });
      this.bytesRead += length;
      if (crc64 === undefined) return undefined;
      this.bytesWithChecksum += length;
      return found === crc64 ? undefined : `${place} differ from their checksum`;
    } catch (error) {
      return `${place} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
}
