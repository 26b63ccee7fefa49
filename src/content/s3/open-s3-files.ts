import type { Clock } from "../../base/world.ts";
import type { ExtentFile, ExtentFiles } from "../extent-files.ts";
import { BlockCache } from "./block-cache.ts";
import { claimBucket } from "./bucket-claim.ts";
import { parseBucketLocation } from "./bucket-location.ts";
import type { BucketDefaults } from "./bucket-location.ts";
import { Bucket } from "./bucket.ts";
import { ExtentParts } from "./extent-parts.ts";
import { PartReader } from "./part-reader.ts";
import { PartUploads } from "./part-uploads.ts";
import { listExtentFolders, listParts, removeParts } from "./parts.ts";
import type { Credentials } from "./signature.ts";

export interface S3FilesOptions extends BucketDefaults {
  /** `s3://bucket/prefix?endpoint=https://…&region=…&cache=…` */
  readonly location: string;
  readonly credentials: Credentials;
  readonly renewCredentials?: () => Promise<Credentials>;
  readonly clock: Clock;
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

/** Extents in a bucket: each is a set of objects that contain its parts. */
export async function openS3Files(options: S3FilesOptions): Promise<S3Files> {
  const location = parseBucketLocation(options.location, options);
  const { prefix } = location;
  const bucket = new Bucket({ ...options, ...location });
  // Fails now, not at the first write, if the bucket is unreachable.
  await bucket.send({ method: "GET", query: { "list-type": "2", "max-keys": "1", prefix } }, [200]);
  const reader = new PartReader(bucket, new BlockCache(location.cacheBytesMax));
  const locator = { bucket, prefix, reader };
  const partsOf = (extent: bigint) => listParts(bucket, prefix, extent, everything);
  /** Parts of extents that this node writes, which it need not list. */
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
      return writableFile(known, uploads, () => writing.delete(extent));
    },
    async open(extent) {
      return readableFile(writing.get(extent) ?? new ExtentParts(locator, extent));
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

function writableFile(known: ExtentParts, uploads: PartUploads, onClose: () => void): ExtentFile {
  return {
    write: (bytes, position) => uploads.write(bytes, position),
    read: (bytes, position) => known.read(bytes, position),
    sync: () => uploads.flush(),
    close: async () => onClose(),
  };
}

function readableFile(known: ExtentParts): ExtentFile {
  return {
    write: () => Promise.reject(new Error("extent is open for reading only")),
    read: (bytes, position) => known.read(bytes, position),
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
