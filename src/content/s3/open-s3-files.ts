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

/** Smaller than on disk: an extent is given back as a whole, and moving bytes costs requests. */
const extentBytes = 64 * 1024 * 1024;
/** Uploading an object costs several times as much as writing this into the key space
 *  (`tests/cluster/costs.ts`); much beyond it the database would hold what the bucket is for. */
const inlineBytesMax = 16 * 1024;
const everything = { from: 0, to: Infinity };

/** Extents in a bucket: each is a set of objects that hold stretches of it. */
export async function openS3Files(options: S3FilesOptions): Promise<S3Files> {
  const location = parseBucketLocation(options.location, options);
  const { prefix } = location;
  const bucket = new Bucket({ ...options, ...location });
  // Tells now, and not at the first write, that the bucket cannot be reached.
  await bucket.send({ method: "GET", query: { "list-type": "2", "max-keys": "1", prefix } }, [200]);
  const reader = new PartReader(bucket, new BlockCache(location.cacheBytesMax));
  const place = { bucket, prefix, reader };
  const partsOf = (extent: bigint) => listParts(bucket, prefix, extent, everything);
  /** What this node writes it need not ask for. */
  const writing = new Map<bigint, ExtentParts>();
  return {
    extentBytes,
    inlineBytesMax,
    writesOnce: true,
    async create(extent) {
      // A store that was brought back from a backup gives out ids once more. What lies there is of
      // the time that was lost, and must not be taken for what comes.
      await removeParts(bucket, extent, await partsOf(extent));
      const known = new ExtentParts(place, extent);
      writing.set(extent, known);
      const uploads = new PartUploads(bucket, extent, known);
      return writableFile(known, uploads, () => writing.delete(extent));
    },
    async open(extent) {
      return readableFile(writing.get(extent) ?? new ExtentParts(place, extent));
    },
    remove: async (extent) => removeParts(bucket, extent, await partsOf(extent)),
    async size(extent) {
      const last = (await partsOf(extent)).at(-1);
      return last === undefined ? 0 : last.offset + last.length;
    },
    stretches: partsOf,
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
    write: () => Promise.reject(new Error("an extent that was opened to read is written to")),
    read: (bytes, position) => known.read(bytes, position),
    sync: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}
