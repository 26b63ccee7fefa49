import type { Bucket } from "./bucket.ts";

/** Format of the objects. Increased when older releases can no longer read them. */
const formatVersion = 1;
const key = "owner";

/** Marks the bucket as that of one store: extents of two stores have the same names and must not
 *  share a prefix. The object contains the store's id and the format of the objects. */
export async function claimBucket(bucket: Bucket, storeId: string): Promise<void> {
  const found = await read(bucket);
  if (found === undefined) {
    const body = Buffer.from(JSON.stringify({ format: formatVersion, store: storeId }));
    await bucket.send({ method: "PUT", key, body }, [200]);
  }
  // Read again after the write: another store may have written at the same time.
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
  const { status, body } = await bucket.send({ method: "GET", key }, [200, 404]);
  return status === 404 ? undefined : (JSON.parse(body.toString("utf8")) as Owner);
}
