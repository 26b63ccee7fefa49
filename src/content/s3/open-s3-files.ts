import type { Span } from "../../base/span.ts";
import { firstWhere } from "../../base/search.ts";
import type { Clock } from "../../base/world.ts";
import { ExtentTooShort, type ExtentFile, type ExtentFiles } from "../extents/extent-files.ts";
import { BlockCache } from "./block-cache.ts";
import { parseBucketLocation, Bucket, type BucketDefaults, type Transport } from "./bucket.ts";
import { PartReader } from "./part-reader.ts";
import {
  listExtentFolders,
  listParts,
  partBytesMax,
  partKey,
  removeParts,
  type Part,
} from "./parts.ts";
import type { Credentials } from "./signature.ts";
import { encodeBlocks } from "./checksummed-blocks.ts";

/** Extents in an S3 bucket. S3 has no appends and its objects cannot be changed, so an extent is a
 *  set of objects, its parts, each with the bytes between two flushes. `data/storage-backends.ts`
 *  opens it for `--content s3://…`. */

/** Reads of at least this many bytes are examined for sequential access (`#readAhead`). */
const longReadBytes = 512 * 1024;
/** How far a sequential read is ahead: two chunks of a download (`content/reader.ts`). */
const readAheadBytes = 2 * 1024 * 1024;
/** How many sequential reads of one extent are recognised at the same time. */
const endsMax = 16;

/** What `ExtentParts` needs to find the objects of an extent and to read them. */
interface ExtentLocator {
  readonly bucket: Bucket;
  readonly prefix: string;
  readonly reader: PartReader;
}

/** The parts (objects) of an extent that this process knows. No byte of an extent is written twice,
 *  so they stay valid; if a read needs bytes outside them, it lists the bucket. */
class ExtentParts {
  readonly #locator: ExtentLocator;
  readonly #extent: bigint;
  /** The known parts, ordered by offset, for a binary search. */
  #parts: Part[] = [];
  /** End offsets of recent long reads: a read that continues at one of them is sequential, so the
   *  following blocks are read ahead. */
  readonly #ends: number[] = [];

  constructor(locator: ExtentLocator, extent: bigint) {
    this.#locator = locator;
    this.#extent = extent;
  }

  add(part: Part): void {
    const index = this.#lastBefore(part.offset) + 1;
    if (this.#parts[index - 1]?.offset !== part.offset) this.#parts.splice(index, 0, part);
  }

  /** Fills `bytes` completely from this position on. */
  async read(bytes: Uint8Array, position: number, span?: Span): Promise<void> {
    const parts = this.#covering(position, bytes.length) ?? (await this.#lookUp(bytes, position));
    const end = position + bytes.length;
    if (bytes.length >= longReadBytes) this.#readAhead(position, end);
    await Promise.all(
      parts.map(async (part) => {
        const from = Math.max(part.offset, position);
        const to = Math.min(part.offset + part.length, end);
        const target = bytes.subarray(from - position, to - position);
        const range = { from: from - part.offset, target };
        await this.#locator.reader.read(this.#extent, part, range, span);
      }),
    );
  }

  /** If the read from `position` to `end` continues an earlier one, loads the following blocks into
   *  the cache: a request takes milliseconds, a client should not wait for each. */
  #readAhead(position: number, end: number): void {
    const follows = this.#ends.indexOf(position);
    if (follows >= 0) this.#ends.splice(follows, 1);
    this.#ends.push(end);
    if (this.#ends.length > endsMax) this.#ends.shift();
    const [next] = (follows >= 0 ? this.#covering(end, 1) : undefined) ?? [];
    if (next === undefined) return;
    const length = Math.min(readAheadBytes, next.offset + next.length - end);
    this.#locator.reader.readAhead(this.#extent, next, end - next.offset, length);
  }

  async #lookUp(bytes: Uint8Array, position: number): Promise<readonly Part[]> {
    const end = position + bytes.length;
    const bounds = { from: position - partBytesMax, to: end };
    const { bucket, prefix } = this.#locator;
    for (const part of await listParts(bucket, prefix, this.#extent, bounds)) {
      this.add(part);
    }
    const found = this.#covering(position, bytes.length);
    if (found === undefined) throw new ExtentTooShort(`extent has a gap before offset ${end}`);
    return found;
  }

  /** The known parts that cover a range without gaps; otherwise `undefined`. */
  #covering(position: number, length: number): readonly Part[] | undefined {
    const found: Part[] = [];
    let at = position;
    for (let index = this.#lastBefore(position); at < position + length; index += 1) {
      const part = this.#parts[index];
      if (part === undefined || part.offset > at || part.offset + part.length <= at) {
        return undefined;
      }
      found.push(part);
      at = part.offset + part.length;
    }
    return found;
  }

  /** Index of the last part that begins at or before `position`; -1 if there is none. */
  #lastBefore(position: number): number {
    return firstWhere(this.#parts, ({ offset }) => offset > position) - 1;
  }
}

interface S3FilesOptions extends BucketDefaults {
  /** The option `--content`: `s3://bucket/prefix?endpoint=https://…&region=…&cache=…` */
  readonly location: string;
  readonly credentials: Credentials;
  readonly renewCredentials?: () => Promise<Credentials>;
  readonly clock: Clock;
  readonly transport?: Transport;
}

export interface S3Files extends ExtentFiles {
  close(): void;
}

/** Length at which the next extent is started. Smaller than on disk, because extents are removed as
 *  a whole, and compaction costs requests. */
const extentBytes = 64 * 1024 * 1024;
/** Uploading an object costs several times as much as storing these bytes in the key space
 *  (`tests/cluster/costs.ts`); a much larger limit would move content into the database. */
const inlineBytesMax = 16 * 1024;
const everything = { from: 0, to: Infinity };

/** Opens a bucket as storage for extents; rejects if it is unreachable. */
export async function openS3Files(options: S3FilesOptions): Promise<S3Files> {
  const location = parseBucketLocation(options.location, options);
  const { prefix } = location;
  const bucket = new Bucket({ ...options, ...location });
  // Fails now, not at the first write, if the bucket is unreachable.
  await bucket.send({ method: "GET", query: { "list-type": "2", "max-keys": "1", prefix } }, [200]);
  const reader = new PartReader(bucket, new BlockCache(location.cacheBytesMax));
  const locator = { bucket, prefix, reader };
  const partsOf = (extent: bigint) => listParts(bucket, prefix, extent, everything);
  /** The parts of the extents that this process writes: readers need no listing of the bucket. */
  const writing = new Map<bigint, ExtentParts>();
  return {
    extentBytes,
    inlineBytesMax,
    writesOnce: true,
    async create(extent) {
      // A store that was restored from a backup allocates ids again. Objects that were written
      // after the backup must be removed, so that they are not taken for new ones.
      await removeParts(bucket, extent, await partsOf(extent));
      const known = new ExtentParts(locator, extent);
      writing.set(extent, known);
      const uploads = new PartUploads(bucket, extent, known);
      return extentFile(known, uploads, () => writing.delete(extent));
    },
    async open(extent) {
      return extentFile(writing.get(extent) ?? new ExtentParts(locator, extent));
    },
    remove: async (extent) => removeParts(bucket, extent, await partsOf(extent)),
    async size(extent) {
      const last = (await partsOf(extent)).at(-1);
      return last === undefined ? 0 : last.offset + last.length;
    },
    ranges: partsOf,
    check: () => bucket.ping(),
    list: (after) => listExtentFolders(bucket, prefix, after),
    claim: (storeId) => claimBucket(bucket, storeId),
    close: () => bucket.close(),
  };
}

/** The file of an extent, as the rest of `content/` uses it; without `uploads` it is read-only. */
function extentFile(known: ExtentParts, uploads?: PartUploads, onClose?: () => void): ExtentFile {
  const readOnly = (): Promise<void> => Promise.reject(new Error("extent is read-only"));
  return {
    write: (bytes, position, span) => uploads?.write(bytes, position, span) ?? readOnly(),
    read: (bytes, position, options) => known.read(bytes, position, options?.span),
    sync: async () => uploads?.flush(),
    close: async () => onClose?.(),
  };
}

/** Format of the objects (blocks with checksums). Increased when older releases cannot read it. */
const formatVersion = 1;
const ownerKey = "owner";

/** Marks the bucket as that of one store: extents of two stores have the same names and must not
 *  share a prefix. The object contains the store's id and the format of the objects. */
async function claimBucket(bucket: Bucket, storeId: string): Promise<void> {
  const found = await read(bucket);
  if (found === undefined) {
    const body = Buffer.from(JSON.stringify({ format: formatVersion, store: storeId }));
    await bucket.send({ method: "PUT", key: ownerKey, body }, [200]);
  }
  // Read again after the write: another store may have written it at the same time.
  const { store, format } = found ?? (await read(bucket)) ?? {};
  if (format !== formatVersion) {
    throw new Error(`the bucket has format ${format}; this release supports ${formatVersion}`);
  }
  if (store !== storeId) {
    throw new Error(
      "the bucket prefix belongs to another store; use a separate prefix for each store",
    );
  }
}

interface Owner {
  readonly store?: string;
  readonly format?: number;
}

async function read(bucket: Bucket): Promise<Owner | undefined> {
  const { status, body } = await bucket.send({ method: "GET", key: ownerKey }, [200, 404]);
  return status === 404 ? undefined : (JSON.parse(body.toString("utf8")) as Owner);
}

/** Limit of the concurrent uploads of an extent; others wait, which bounds memory to 32 MiB. */
const concurrentUploadsMax = 8;

/** Contiguous bytes of an extent that were passed to `write`, but are not uploaded yet. */
interface UploadBuffer {
  readonly offset: number;
  readonly chunks: Uint8Array[];
  length: number;
  /** The spans of the traced requests that wrote the bytes: the upload is part of each. Undefined
   *  if none is traced. */
  spans?: Set<Span> | undefined;
}

/** Collects the bytes written to an extent into parts, each of which becomes one object. A full
 *  part is uploaded at once, all other parts at the next flush. Adjacent parts are merged, so that
 *  many small bodies become one object. */
class PartUploads {
  readonly #bucket: Bucket;
  readonly #extent: bigint;
  readonly #known: ExtentParts;
  /** Buffers that are not full, by the offset of their end, where the next bytes are appended. */
  readonly #buffers = new Map<number, UploadBuffer>();
  readonly #running = new Set<Promise<void>>();
  #uploads = 0;
  readonly #slotQueue: (() => void)[] = [];

  constructor(bucket: Bucket, extent: bigint, known: ExtentParts) {
    this.#bucket = bucket;
    this.#extent = extent;
    this.#known = known;
  }

  async write(bytes: Uint8Array, position: number, span?: Span): Promise<void> {
    for (let from = 0; from < bytes.length;) {
      const at = position + from;
      const buffer: UploadBuffer = this.#buffers.get(at) ?? { offset: at, chunks: [], length: 0 };
      if (span !== undefined) (buffer.spans ??= new Set()).add(span);
      this.#buffers.delete(at);
      const count = Math.min(bytes.length - from, partBytesMax - buffer.length);
      // Copies the bytes, because the caller reuses its buffer.
      buffer.chunks.push(new Uint8Array(bytes.subarray(from, from + count)));
      buffer.length += count;
      from += count;
      if (buffer.length < partBytesMax) this.#buffers.set(at + count, buffer);
      else {
        // The upload is not awaited, so that the next part is filled during it. `flush` throws its
        // error.
        void this.#upload(buffer).catch(() => undefined);
        await this.#waitForSlot();
      }
    }
  }

  /** Resolves when everything written before the call is stored in the bucket. */
  async flush(): Promise<void> {
    const buffers = [...this.#buffers.values()].toSorted((a, b) => a.offset - b.offset);
    this.#buffers.clear();
    const joined: UploadBuffer[] = [];
    for (const next of buffers) {
      const last = joined.at(-1);
      const isAdjacent = last !== undefined && last.offset + last.length === next.offset;
      if (isAdjacent && last.length + next.length <= partBytesMax) {
        last.chunks.push(...next.chunks);
        last.length += next.length;
        if (next.spans !== undefined) last.spans = new Set([...(last.spans ?? []), ...next.spans]);
      } else joined.push(next);
    }
    for (const buffer of joined) void this.#upload(buffer).catch(() => undefined);
    const results = await Promise.allSettled(this.#running);
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }

  /** A failed upload stays in `#running`, so that all later flushes of this extent fail. */
  #upload({ offset, length, chunks, spans }: UploadBuffer): Promise<void> {
    const part = { offset, length };
    const running = this.#send(part, chunks, spans).then(() => {
      this.#known.add(part);
      return void this.#running.delete(running);
    });
    this.#running.add(running);
    return running;
  }

  async #send(
    part: Part,
    chunks: readonly Uint8Array[],
    spans: Iterable<Span> | undefined,
  ): Promise<void> {
    this.#uploads += 1;
    try {
      const key = partKey(this.#extent, part);
      const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
      const request = { method: "PUT", key, body: encodeBlocks(key, bytes) } as const;
      await this.#bucket.send(request, [200], spans);
    } finally {
      this.#uploads -= 1;
      this.#slotQueue.shift()?.();
    }
  }

  /** Resolves when fewer than `concurrentUploadsMax` uploads run. */
  async #waitForSlot(): Promise<void> {
    if (this.#uploads < concurrentUploadsMax) return;
    await new Promise<void>((resolve) => this.#slotQueue.push(resolve));
  }
}
